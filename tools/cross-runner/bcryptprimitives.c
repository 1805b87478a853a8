/* bcryptprimitives.dll for Wine versions without it (Debian 12 has 8.0): Rust's library takes random numbers from there, for hash maps. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T length)
{
    while (length > 0) {
        ULONG part = length < 0x10000000 ? (ULONG)length : 0x10000000;
        if (!SystemFunction036(buffer, part))
            return FALSE;
        buffer += part;
        length -= part;
    }
    return TRUE;
}
