import { dialects } from '@call-attribution/query-dsl';
import type { Version } from './api.ts';

/** What could stand at the caret. */
export interface Completion {
  readonly text: string;
  readonly detail: string;
}

const details = {
  date: 'when the call was made',
  decimal: 'minutes talked',
  flag: 'with calls from call extensions',
} as const;
const ranges = {
  date: [
    {
      text: '[2026-10-01 00:00:00 TO 2026-11-01 00:00:00}',
      detail: 'from a time up to, but without, another',
    },
    { text: '[2026-10-01 00:00:00 TO *]', detail: 'from a time on' },
    { text: '[* TO 2026-10-01 00:00:00}', detail: 'before a time' },
  ],
  decimal: [
    { text: '[2 TO *]', detail: 'so many minutes and more' },
    { text: '[0 TO 0]', detail: 'not answered' },
    { text: '[* TO 0.5]', detail: 'at most so many minutes' },
  ],
  flag: [{ text: '1', detail: 'bring them in' }],
} as const;

/** The fields that begin like the word at the caret, or the ranges that a field takes; they replace `start` to `end`. */
export function complete(
  text: string,
  caret: number,
  version: Version,
): { items: Completion[]; start: number; end: number } {
  const fields = Object.entries(dialects[version].fields) as [string, keyof typeof ranges][];
  const [part = ''] = /[^,]*$/.exec(text.slice(0, caret)) ?? [];
  const [, name, begun = ''] = /^\s*(\w+):(.*)$/.exec(part) ?? [];
  const type = fields.find(([field]) => field === name)?.[1];
  const word = name === undefined ? part.trimStart() : begun;
  const items: Completion[] =
    type !== undefined
      ? [...ranges[type]]
      : fields.map(([field, kind]) => ({
          text: kind === 'flag' ? `${field}:1` : `${field}:`,
          detail: details[kind],
        }));
  const fitting = items.filter((item) => item.text.startsWith(word) && item.text !== word);
  return { items: fitting, start: caret - word.length, end: caret };
}
