//! Text output buffer.

/// A growing text.
pub(crate) struct TextBuffer(Vec<u8>);

/// The limit on indentation levels.
const MAX_INDENT: usize = 16;

/// Decimal digits of 0 to 255, right-aligned, and how many there are.
static DECIMAL: [([u8; 3], u8); 256] = {
    let mut table = [([b'0'; 3], 1); 256];
    let mut n = 0;
    while n < 256 {
        let digits = [b'0' + (n / 100) as u8, b'0' + (n / 10 % 10) as u8, b'0' + (n % 10) as u8];
        let count = if n >= 100 {
            3
        } else if n >= 10 {
            2
        } else {
            1
        };
        table[n] = (digits, count);
        n += 1;
    }
    table
};

impl TextBuffer {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn finish(self) -> String {
        // Only full strings and ASCII bytes are ever pushed.
        String::from_utf8(self.0)
            .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
    }

    #[inline]
    pub(crate) fn push(&mut self, byte: u8) {
        self.0.push(byte);
    }

    #[inline]
    pub(crate) fn text(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    #[inline]
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn indent(&mut self, depth: usize) {
        for _ in 0..depth.min(MAX_INDENT) {
            self.text("    ");
        }
    }

    /// Writes a number below 256.
    #[inline]
    pub(crate) fn small(&mut self, n: u8) {
        let (digits, count) = DECIMAL[n as usize];
        match count {
            1 => self.0.push(digits[2]),
            2 => self.bytes(&digits[1..]),
            _ => self.bytes(&digits),
        }
    }

    pub(crate) fn number(&mut self, n: u32) {
        if let Ok(n) = u8::try_from(n) {
            return self.small(n);
        }
        let mut digits = [0; 10];
        let mut at = digits.len();
        let mut rest = n;
        while rest > 0 {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        self.bytes(&digits[at..]);
    }

    /// Writes eight hexadecimal digits.
    pub(crate) fn hex8(&mut self, n: u32) {
        let mut digits = [0; 8];
        for (i, digit) in digits.iter_mut().enumerate() {
            *digit = b"0123456789abcdef"[(n >> (28 - 4 * i) & 15) as usize];
        }
        self.bytes(&digits);
    }

    /// Writes `0x` and eight digits.
    pub(crate) fn hex(&mut self, n: u32) {
        self.text("0x");
        self.hex8(n);
    }

    /// Writes `0x` and two digits.
    pub(crate) fn hex2(&mut self, n: u8) {
        self.text("0x");
        self.digits2(n);
    }

    /// Writes two hexadecimal digits.
    pub(crate) fn digits2(&mut self, n: u8) {
        self.push(b"0123456789abcdef"[(n >> 4) as usize]);
        self.push(b"0123456789abcdef"[(n & 15) as usize]);
    }

    /// Writes `@Ln`: the label of an address.
    pub(crate) fn label(&mut self, at: usize) {
        self.text("@L");
        self.number(u32::try_from(at).unwrap_or(u32::MAX));
    }
}
