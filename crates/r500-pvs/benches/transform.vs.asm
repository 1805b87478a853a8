-- A transform with a light, as a game has it.
temp[0].x   = VE_DOT  const[0].xyzw  input[0].xyzw ;
temp[0].y   = VE_DOT  const[1].xyzw  input[0].xyzw ;
temp[0].z   = VE_DOT  const[2].xyzw  input[0].xyzw ;
temp[0].w   = VE_DOT  const[3].xyzw  input[0].xyzw ;
out[0].xyzw = VE_ADD  temp[0].xyzw   temp[0].0000 ;
temp[1].x   = VE_DOT  const[4].xyz0  input[1].xyz0 ;
temp[1].y   = VE_DOT  const[5].xyz0  input[1].xyz0 ;
temp[1].z   = VE_DOT  const[6].xyz0  input[1].xyz0 ;
temp[2].x   = VE_DOT  temp[1].xyz0   temp[1].xyz0 ;
temp[2].w   = ME_RSQ  temp[2].xxxx ;
temp[1].xyz = VE_MUL  temp[1].xyz_   temp[2].www_ ;
temp[3].x   = VE_DOT  temp[1].xyz0   const[7].xyz0 ;
temp[3].x   = VE_MAX  temp[3].x___   temp[3].0___ ;
temp[4].xyz = VE_MUL  const[8].xyz_  temp[3].xxx_ ;
out[1].xyz  = VE_ADD  temp[4].xyz_   const[9].xyz_ ;
out[1].w    = VE_ADD  temp[4].___1   temp[4].___0 ;
out[2].xyzw = VE_ADD  input[2].xyzw  input[2].0000 ;
