-- The position by the matrix in const[0] to const[3]; input[1] as it is.
out[0].x = VE_DOT const[0].xyzw input[0].xyzw ;
out[0].y = VE_DOT const[1].xyzw input[0].xyzw ;
out[0].z = VE_DOT const[2].xyzw input[0].xyzw ;
out[0].w = VE_DOT const[3].xyzw input[0].xyzw ;
out[1].xyzw = VE_ADD input[1].xyzw input[1].0000 ;
