#![no_main]

libfuzzer_sys::fuzz_target!(
    init: benzer_fuzz::on_one_thread(),
    |data: &[u8]| benzer_fuzz::jsonl(data)
);
