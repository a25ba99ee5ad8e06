use super::*;

const RULES: Rules = Rules { seed: 3, least: 8, gap: 8 };

fn found(a: &[u64], b: &[u64]) -> (Vec<Vec<Run>>, u64) {
    let mut work = 0;
    let runs = passages(a, b, RULES, &mut work);
    for passage in &runs {
        for run in passage {
            assert_eq!(a[run.a..run.end()[0]], b[run.b..run.end()[1]]);
        }
        for pair in passage.windows(2) {
            let [end_a, end_b] = pair[0].end();
            assert!(end_a <= pair[1].a && end_b <= pair[1].b && (end_a < pair[1].a || end_b < pair[1].b));
        }
    }
    (runs, work)
}

fn numbers(from: u64, count: u64) -> Vec<u64> {
    (from..from + count).collect()
}

#[test]
fn a_passage_with_changes_is_one_passage() {
    let a = [numbers(1000, 50), numbers(0, 20), numbers(2000, 50)].concat();
    let b = [numbers(3000, 30), numbers(0, 5), vec![9999], numbers(6, 6), numbers(13, 7), numbers(4000, 9)].concat();
    let want = vec![vec![Run { a: 50, b: 30, len: 5 }, Run { a: 56, b: 36, len: 6 }, Run { a: 63, b: 42, len: 7 }]];
    assert_eq!(found(&a, &b).0, want);
}

#[test]
fn what_either_text_repeats_is_found_wherever_it_stands() {
    let once = [numbers(100, 20), numbers(0, 12)].concat();
    let twice = [numbers(0, 12), numbers(200, 9), numbers(0, 12)].concat();
    let first = vec![Run { a: 20, b: 0, len: 12 }];
    let second = vec![Run { a: 20, b: 21, len: 12 }];
    assert_eq!(found(&once, &twice).0, [first, second]);
    assert_eq!(found(&twice, &once).0.len(), 2);
}

#[test]
fn moved_passages_are_found_in_any_order() {
    let parts: Vec<Vec<u64>> = (0..4).map(|part| numbers(part * 100, 10 + part)).collect();
    let a = parts.concat();
    let b = [&parts[2], &parts[0], &parts[3], &parts[1]].map(Vec::clone).concat();
    let lengths: Vec<usize> = found(&a, &b).0.iter().map(|runs| runs[0].len).collect();
    assert_eq!(lengths, [13, 12, 11, 10]);
}

/// The maximum cost of a token. A run of L tokens, at least 3, costs: 3 open chains to look at, 12 + L steps each; 27
/// other places, 9 for each size of grams, 2 L + 10 steps each; L steps back to the run before it; a gap of 9 · 9
/// steps; and where its chain ends, 76 steps beyond it at either end. That is 58 L + 539, so not more than 238 for
/// each of its tokens, and 7 more to set out.
const STEPS: u64 = 245;

#[test]
fn the_steps_are_linear_in_any_texts() {
    let word = vec![7; 20_000];
    let pattern = |period: u64, odd: usize| {
        let mut tokens: Vec<u64> = (0..20_000).map(|i| i % period).collect();
        tokens.iter_mut().step_by(odd).enumerate().for_each(|(i, token)| *token = 1_000_000 + i as u64);
        tokens
    };
    let mut state = 1u64;
    let mut coins = || -> Vec<u64> {
        let next = |state: &mut u64| {
            *state = crate::hash::mix::finish(state.wrapping_add(0x9E37_79B9_7F4A_7C15));
            *state & 1
        };
        (0..20_000).map(|_| next(&mut state)).collect()
    };
    let texts =
        [word, pattern(1, 100), pattern(1, 3), pattern(2, 4), pattern(7, 50), pattern(97, 1000), coins(), coins()];
    for (i, a) in texts.iter().enumerate() {
        for (j, b) in texts.iter().enumerate() {
            let (whole, half) = (found(a, b).1, found(&a[..10_000], &b[..10_000]).1);
            let tokens = (a.len() + b.len()) as u64;
            assert!(whole <= STEPS * tokens, "{whole} steps for {tokens} tokens, texts {i} and {j}");
            assert!(2 * whole <= 5 * half, "twice the text took {whole} steps, half of it {half}: {i} and {j}");
        }
    }
}

#[test]
fn a_long_passage_is_found_among_few_distinct_words() {
    let mut state = 7u64;
    for words in [2, 3, 4, 5] {
        let mut random = |count: usize| -> Vec<u64> {
            let next = |state: &mut u64| {
                *state = crate::hash::mix::finish(state.wrapping_add(0x9E37_79B9_7F4A_7C15));
                *state % words
            };
            (0..count).map(|_| next(&mut state)).collect()
        };
        let passage = random(500);
        let a = [random(10_000), passage.clone(), random(10_000)].concat();
        let b = [random(15_000), passage, random(5_000)].concat();
        // All but the first tokens of it, if a run of other words that ends in them was taken before.
        let right = |run: &Run| (run.a < 10_500) && run.a + 5_000 == run.b && run.end()[0] > 10_000 && run.len >= 450;
        assert!(found(&a, &b).0.iter().flatten().any(right), "{words}");
    }
}

#[test]
fn what_is_put_in_before_a_word_that_it_ends_with_does_not_part_a_passage() {
    let a = numbers(0, 40);
    let b = [numbers(0, 20), vec![901, 902, 901, 19], numbers(20, 20)].concat();
    let want = vec![vec![Run { a: 0, b: 0, len: 20 }, Run { a: 20, b: 24, len: 20 }]];
    assert_eq!(found(&a, &b).0, want);
    let swapped = vec![Run { a: 0, b: 0, len: 20 }, Run { a: 24, b: 20, len: 20 }];
    let (mut work, size) = (0, RULES.seed);
    let there = chains(&b, &a, &Grams::new(&b, size), &Grams::new(&a, size), RULES, &mut work);
    assert_eq!(there, [swapped]);
}

#[test]
fn a_run_goes_on_the_heaviest_chain_that_it_can_go_on() {
    // The stray run 40, 41, 42 is in b shortly before the position where the passage continues.
    let a = [numbers(0, 20), vec![40, 41, 42], numbers(20, 20)].concat();
    let b = [numbers(0, 20), vec![40, 900, 41, 901, 40, 41, 42], numbers(20, 20), vec![902, 40, 41, 42]].concat();
    let sums: Vec<usize> = found(&a, &b).0.iter().map(|runs| runs.iter().map(|run| run.len).sum()).collect();
    assert_eq!(sums, [43]);
}

#[test]
fn a_chain_gives_way_to_a_run_of_more_than_twice_the_length_elsewhere() {
    let a = [numbers(0, 20), vec![800], numbers(40, 50)].concat();
    let b = [numbers(0, 20), vec![801, 40, 41, 42], numbers(900, 20), numbers(40, 50)].concat();
    let (mut work, size) = (0, RULES.seed);
    let there = chains(&a, &b, &Grams::new(&a, size), &Grams::new(&b, size), RULES, &mut work);
    assert_eq!(there, [[Run { a: 0, b: 0, len: 20 }], [Run { a: 21, b: 44, len: 50 }]]);
}

#[test]
fn a_text_read_once_is_compared_like_one_read_anew() {
    let recipe = crate::text::Recipe { shingle_size: 3, ..crate::text::Recipe::PLAIN };
    let reader = Reader::new(recipe, &[]);
    let texts = ["", "two", "two three", "one two three", "One two, three four. One two three!", "four one two three"];
    for a in texts {
        let known = Known::new(&reader, a);
        for b in texts {
            let (anew, again) = (find(&reader, a, b, Some(1), 8), Known::new(&reader, b));
            let found = find_in(&reader, &known, &again, Some(1), 8);
            assert_eq!((&found.passages, found.a, found.b), (&anew.passages, anew.a, anew.b), "{a:?} {b:?}");
            let words = |text: &str| reader.tokens(text).len();
            assert_eq!([found.a[0], found.b[0]], [words(a), words(b)]);
            if a == b {
                assert_eq!(found.a, [words(a); 2]);
            }
        }
    }
}
