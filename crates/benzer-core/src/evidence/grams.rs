//! Short runs of tokens of a text, and their positions.

use crate::hash::shingle::word_shingle;

/// All grams of a text: runs of tokens of one length.
#[derive(Clone)]
pub struct Grams {
    /// The number of tokens of a gram.
    pub size: usize,
    /// The gram at each place, as a number.
    pub numbers: Vec<u64>,
    /// The places by number, those of one number in their order.
    pub places: Vec<u32>,
}

impl Grams {
    /// The grams of `size` tokens, at most as many as there are; linear in the tokens.
    pub fn new(tokens: &[u64], size: usize) -> Grams {
        Grams::numbered(size, tokens.windows(size).map(word_shingle).collect())
    }

    /// The grams of four times the size, each made of four of these; linear whatever the size is.
    pub fn longer(&self) -> Grams {
        let (numbers, size) = (&self.numbers, self.size);
        let four = |at: usize| word_shingle(&[0, 1, 2, 3].map(|part| numbers[at + part * size]));
        Grams::numbered(4 * size, (0..numbers.len().saturating_sub(3 * size)).map(four).collect())
    }

    fn numbered(size: usize, numbers: Vec<u64>) -> Grams {
        let mut sorted: Vec<(u64, u32)> = numbers.iter().copied().zip(0..).collect();
        sort(&mut sorted);
        Grams { size, numbers, places: sorted.into_iter().map(|(_, place)| place).collect() }
    }
}

/// Sorts by number, eight bits at a time: what compares no two of them takes no longer for any text.
fn sort(items: &mut Vec<(u64, u32)>) {
    if items.len() < 256 {
        items.sort_unstable();
        return;
    }
    let mut spare = vec![(0, 0); items.len()];
    for shift in (0..64).step_by(8) {
        let mut ends = [0usize; 257];
        items.iter().for_each(|item| ends[(item.0 >> shift) as usize % 256 + 1] += 1);
        (1..257).for_each(|i| ends[i] += ends[i - 1]);
        for &item in items.iter() {
            let end = &mut ends[(item.0 >> shift) as usize % 256];
            spare[*end] = item;
            *end += 1;
        }
        std::mem::swap(items, &mut spare);
    }
}

/// Positions of the grams of one text in another.
pub struct Meetings {
    /// For each gram of the one: its first entry in the other's `places`, how many there are, and how often the gram
    /// came before in the one.
    of: Vec<[u32; 3]>,
}

impl Meetings {
    /// The grams of `ours` in `theirs`; linear in both.
    pub fn new(ours: &Grams, theirs: &Grams) -> Meetings {
        let mut of = vec![[0; 3]; ours.numbers.len()];
        let (mut at, mut group) = (0, 0..0);
        let mut last = None;
        let mut rank = 0;
        for &place in &ours.places {
            let number = ours.numbers[place as usize];
            if last != Some(number) {
                (last, rank) = (Some(number), 0);
                let number_at = |at: usize| theirs.places.get(at).map(|&place| theirs.numbers[place as usize]);
                while number_at(at).is_some_and(|other| other < number) {
                    at += 1;
                }
                let from = at;
                while number_at(at) == Some(number) {
                    at += 1;
                }
                group = from..at;
            }
            of[place as usize] = [group.start as u32, group.len() as u32, rank];
            rank += 1;
        }
        Meetings { of }
    }

    /// The number of positions of the gram at `place` in the other text; 0 if no gram begins there.
    pub fn count(&self, place: usize) -> usize {
        self.of.get(place).map_or(0, |number| number[1] as usize)
    }

    /// Whether more than one in eight of the grams have more than a `few` positions.
    pub fn are_crowded(&self, few: usize) -> bool {
        8 * (0..self.of.len()).filter(|&place| self.count(place) > few).count() > self.of.len()
    }

    /// Possible positions of the gram at `place` in the other text: that of its rank first, then the first few.
    pub fn candidates<'a>(&self, place: usize, theirs: &'a Grams, few: usize) -> impl Iterator<Item = usize> + 'a {
        let [from, count, rank] = self.of.get(place).copied().unwrap_or_default().map(|number| number as usize);
        let ranked = (count > 0).then(|| from + rank.min(count - 1));
        let others = (from..from + count.min(few)).filter(move |&at| Some(at) != ranked);
        ranked.into_iter().chain(others).map(|at| theirs.places[at] as usize)
    }
}
