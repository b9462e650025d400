type Environment = Readonly<Record<string, string | undefined>>;

/** Whether the locale is one without UTF-8, such as `LC_ALL=C`. Where no locale is set, UTF-8 is taken for granted. */
export function isAscii(env: Environment): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG;
  return Boolean(locale) && !/utf-?8/i.test(locale ?? '');
}

// Of the same width, so that columns stay columns.
const marks: Readonly<Record<string, string>> = {
  '…': '~',
  '→': '>',
  '←': '<',
  '·': '.',
  '–': '-',
  '—': '-',
  '─': '-',
  '┤': '|',
  '┼': '+',
  '▏': '.',
  '▎': '.',
  '▍': ':',
  '▌': ':',
  '▋': '=',
  '▊': '=',
  '▉': '#',
  '▁': '_',
  '▂': '.',
  '▃': ':',
  '▄': '-',
  '▅': '=',
  '▆': '+',
  '▇': '*',
  '█': '#',
  '░': '.',
  '\u2018': "'",
  '\u2019': "'",
  '\u201c': '"',
  '\u201d': '"',
};

const accents = /\p{Mn}/gu;

/** The text in ASCII: marks and bars as similar characters, letters without accents, anything else as a question mark. */
export function toAscii(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is left alone is ASCII with its control characters.
  if (/^[\x00-\x7f]*$/.test(text)) return text;
  return text
    .normalize('NFC')
    .replace(/[^\0-\x7f]/gu, (letter) => marks[letter] ?? letter.normalize('NFD').replace(accents, ''))
    .replace(/[^\0-\x7f]/gu, '?');
}
