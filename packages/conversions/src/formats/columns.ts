import type { ClickIdName } from '../click-ids.ts';
import type { SheetColumn } from '../sheet-format.ts';

const clickIdForm = /^[A-Za-z0-9_][\w.|~:-]{2,511}$/;

/** The id that the tool matches by. */
export function clickIdColumn(title: string, name: ClickIdName, example: string): SheetColumn {
  return { title, cell: ({ clickIds }) => clickIds[name] ?? null, pattern: clickIdForm, example };
}

/** The name of the conversion action, goal or type. */
export function nameColumn(title: string): SheetColumn {
  return {
    title,
    cell: ({ name }) => name,
    pattern: /^\S.{0,99}$/u,
    example: 'Phone lead',
  };
}

/** The value, with two decimals. */
export function valueColumn(title: string): SheetColumn {
  return {
    title,
    cell: ({ value }) => value?.toFixed(2) ?? null,
    pattern: /^\d+(\.\d{1,6})?$/,
    example: '25.00',
    isOptional: true,
  };
}

/** The currency of the value. */
export function currencyColumn(title: string): SheetColumn {
  return { title, cell: ({ currency }) => currency, pattern: /^[A-Z]{3}$/, example: 'USD', isOptional: true };
}

/** The session id of the call. */
export function sidColumn(title: string): SheetColumn {
  return { title, cell: ({ sid }) => sid, pattern: /^\S{1,100}$/, example: '1000000001' };
}

/** The same word in every row. */
export function constantColumn(title: string, word: string): SheetColumn {
  return { title, cell: () => word, pattern: new RegExp(`^${word}$`), example: word };
}

/** A column that the tool knows and we leave empty. */
export function emptyColumn(title: string): SheetColumn {
  return { title, cell: () => null, pattern: /^$/, example: 'an empty cell', isOptional: true };
}
