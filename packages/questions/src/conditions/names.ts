/** A name as the vocabulary has it: in small letters, with `_` between its words. */
export const nameOf = (written: string): string =>
  written
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');

/** Words that people use for several fields. They are refused, with the fields they may mean. */
export const ambiguousNames: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    name: ['first_name', 'last_name'],
    number: ['ani', 'dnis'],
    phone: ['ani', 'dnis'],
    page: ['landing_page', 'conversion_page'],
    touch: ['first_touch', 'last_touch'],
    title: ['first_touch_title', 'last_touch_title'],
    domain: ['first_touch_domain', 'last_touch_domain', 'referrer'],
    version: ['os_version', 'browser_version'],
    id: ['sid', 'acct_id', 'pid', 'custom_id'],
  }),
);

/** Words as a sentence lists them: a, b or c. */
export const wordList = (words: readonly string[], before = 'or'): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} ${before} ${words.at(-1)}`;
