//! Error numbers of system calls.

/// A system call's error number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Errno(pub i32);

impl Errno {
    pub(crate) const NOENT: Self = Self(libc::ENOENT);
    pub(crate) const IO: Self = Self(libc::EIO);
    pub(crate) const NOMEM: Self = Self(libc::ENOMEM);
    pub(crate) const FAULT: Self = Self(libc::EFAULT);
    pub(crate) const BUSY: Self = Self(libc::EBUSY);
    pub(crate) const INVAL: Self = Self(libc::EINVAL);
    pub(crate) const NOSYS: Self = Self(libc::ENOSYS);
    pub(crate) const OPNOTSUPP: Self = Self(libc::EOPNOTSUPP);
}

impl From<rustix::io::Errno> for Errno {
    fn from(error: rustix::io::Errno) -> Self {
        Self(error.raw_os_error())
    }
}

impl From<std::io::Error> for Errno {
    fn from(error: std::io::Error) -> Self {
        error.raw_os_error().map_or(Self::IO, Self)
    }
}
