/** Anything but the characters of ASCII. */
const notAscii = /[^\0-\x7F]/;

/**
 * A text as people read it: percent-encoding, also of what is encoded already, other scripts' digits,
 * wide characters and those that nobody sees, as plain text. What is looked for in texts is looked for
 * in this form.
 */
export function plainText(text: string): string {
  let decoded = text;
  for (let layer = 0; layer < 4 && /%[0-9a-f]{2}/i.test(decoded); layer += 1)
    decoded = decoded.replace(/(?:%[0-9a-f]{2})+/gi, decodedRun);
  if (!notAscii.test(decoded)) return decoded;
  const plain = decoded.normalize('NFKC').replace(/[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, '');
  return plainDigits(plain.replace(/\p{Pd}/gu, '-'));
}

/** What was encoded ends no line. */
function decodedRun(run: string): string {
  try {
    return decodeURIComponent(run).replace(/\p{Cc}/gu, ' ');
  } catch {
    return run;
  }
}

const chineseDigits = '〇一二三四五六七八九';

/** A text with the decimal digits of any script as 0 to 9. */
function plainDigits(text: string): string {
  return text.replace(/[\p{Nd}〇一二三四五六七八九]/gu, digitOf);
}

/** The value of a decimal digit: in every script the ten of them follow each other. */
function digitOf(digit: string): string {
  const chinese = chineseDigits.indexOf(digit);
  if (chinese >= 0) return String(chinese);
  const code = digit.codePointAt(0) ?? 0;
  let before = 0;
  while (before < 10 && /\p{Nd}/u.test(String.fromCodePoint(code - before - 1))) before += 1;
  return String(before % 10);
}
