/* a program */
static const uint32_t program[] = {
    0x00078101, 0x00000000, 0x00000080, 0x00db0220, 0x00c18003, 0x00490000 // six
};
