import { type CsvDialect, csvCell } from './csv-cells.ts';

/** A column of one's own. */
export interface CsvColumn<T> {
  header: string;
  value: (item: T) => string | number | boolean | null | undefined;
}

/** Below so many columns, looking each field up is as fast as walking the record. */
const manyColumns = 24;
/** Records whose keys change all the time are not worth planning for. */
const mostPlans = 16;

/**
 * A function that writes one item as a line. Records come with the same keys in the same order, and walking an object's
 * keys costs a third of looking seventy names up: so the place of each key is worked out once, from the first record,
 * and again when a record differs.
 */
export function csvRow<T>(
  columns: readonly ((keyof T & string) | CsvColumn<T>)[],
  dialect: CsvDialect,
): (item: T) => string {
  if (columns.length === 0)
    throw new TypeError('columns is empty; give at least one, or none at all for all fields');
  const { delimiter, newline } = dialect;
  const cell = csvCell(dialect);
  const cells = new Array<string>(columns.length).fill('');
  const own = columns.flatMap((column, at) =>
    typeof column === 'string' ? [] : [{ at, value: column.value }],
  );
  const named = columns.flatMap((column, at) => (typeof column === 'string' ? [{ at, name: column }] : []));
  const places = new Map<string, number>(named.map(({ name, at }) => [name, at]));
  let plans = named.length >= manyColumns && places.size === named.length ? mostPlans : 0;
  let keys: string[] = [];
  let at: number[] = [];

  const walk = (item: T): boolean => {
    let index = 0;
    for (const key in item) {
      if (key !== keys[index]) return false;
      const place = at[index] as number;
      if (place >= 0) cells[place] = cell(item[key]);
      index += 1;
    }
    return index === keys.length;
  };
  const lookUp = (item: T): void => {
    for (const column of named) cells[column.at] = cell(item[column.name]);
  };
  const plan = (item: T): void => {
    plans -= 1;
    keys = [];
    for (const key in item) keys.push(key);
    at = keys.map((key) => places.get(key) ?? -1);
  };
  return (item) => {
    if (plans === 0 || !walk(item)) {
      lookUp(item);
      if (plans > 0) plan(item);
    }
    for (const column of own) cells[column.at] = cell(column.value(item));
    return cells.join(delimiter) + newline;
  };
}
