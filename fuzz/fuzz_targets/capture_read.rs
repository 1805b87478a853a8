//! Property: any bytes can be read as a capture and played, which gives records, submissions or
//! errors; records that were read survive a round trip through the writer.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500_stream::capture::{Limits, Player, Reader, Record, Writer};

fuzz_target!(|bytes: &[u8]| {
    let reader = match Reader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let mut player = Player::new(Limits { bytes: 1 << 20 });
    let mut records: Vec<Record> = Vec::new();
    for record in reader {
        match record {
            Ok(record) => {
                if let Err(error) = player.apply(record.clone()) {
                    assert!(!error.to_string().is_empty());
                }
                records.push(record);
            }
            Err(error) => assert!(error.offset <= bytes.len() as u64),
        }
    }
    let mut writer = Writer::new(Vec::new()).expect("memory takes everything");
    for record in &records {
        writer.write(record).expect("memory takes everything");
    }
    let written = writer.into_inner();
    let again: Result<Vec<_>, _> = Reader::new(&*written).expect("a capture was written").collect();
    assert_eq!(again.expect("a capture was written"), records);
});
