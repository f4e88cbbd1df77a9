//! Punycode (RFC 3492): names beyond ASCII, spelled in ASCII.

const BASE: u32 = 36;
const T_MIN: u32 = 1;
const T_MAX: u32 = 26;
const SKEW: u32 = 38;
const DAMP: u32 = 700;
const FIRST_BIAS: u32 = 72;
const FIRST_BEYOND: u32 = 0x80;

/// The letters after `xn--`; nothing if the label is too long to count.
pub(super) fn encode(label: &str) -> Option<String> {
    let mut code: String = label.chars().filter(char::is_ascii).collect();
    let basic = u32::try_from(code.len()).ok()?;
    if basic > 0 {
        code.push('-');
    }
    let letters: Vec<u32> = label.chars().map(u32::from).collect();
    let all = u32::try_from(letters.len()).ok()?;
    let (mut next, mut delta, mut bias, mut handled) = (FIRST_BEYOND, 0_u32, FIRST_BIAS, basic);
    while handled < all {
        let smallest = letters.iter().copied().filter(|letter| *letter >= next).min()?;
        delta = delta.checked_add((smallest - next).checked_mul(handled + 1)?)?;
        next = smallest;
        for letter in &letters {
            if *letter < next {
                delta = delta.checked_add(1)?;
            }
            if *letter == next {
                push_number(&mut code, delta, bias);
                bias = adapted(delta, handled + 1, handled == basic);
                delta = 0;
                handled += 1;
            }
        }
        delta = delta.checked_add(1)?;
        next += 1;
    }
    Some(code)
}

fn push_number(code: &mut String, number: u32, bias: u32) {
    let mut rest = number;
    for k in (BASE..).step_by(BASE as usize) {
        let threshold = k.saturating_sub(bias).clamp(T_MIN, T_MAX);
        if rest < threshold {
            break;
        }
        code.push(digit(threshold + (rest - threshold) % (BASE - threshold)));
        rest = (rest - threshold) / (BASE - threshold);
    }
    code.push(digit(rest));
}

fn digit(value: u32) -> char {
    char::from_digit(if value < 26 { value + 10 } else { value - 26 }, BASE).unwrap_or('0')
}

fn adapted(delta: u32, handled: u32, is_first: bool) -> u32 {
    let mut delta = if is_first { delta / DAMP } else { delta / 2 };
    delta += delta / handled;
    let mut k = 0;
    while delta > ((BASE - T_MIN) * T_MAX) / 2 {
        delta /= BASE - T_MIN;
        k += BASE;
    }
    k + (BASE - T_MIN + 1) * delta / (delta + SKEW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names() {
        let table = [
            ("bücher", "bcher-kva"),
            ("münchen", "mnchen-3ya"),
            ("例え", "r8jz45g"),
            ("пример", "e1afmkfd"),
            ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"),
            ("3年b組金八先生", "3b-ww4c5e180e575a65lsy2b"),
            ("faß", "fa-hia"),
        ];
        for (name, code) in table {
            assert_eq!(encode(name).as_deref(), Some(code), "{name}");
        }
    }
}
