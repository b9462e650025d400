/** What a cell must know of the file it stands in. */
export interface CsvDialect {
  readonly delimiter: ',' | ';' | '\t' | '|';
  readonly newline: string;
  readonly safe: boolean;
}

// Texts a spreadsheet takes for a formula; the full-width forms are read as the plain ones by some.
const formula = /^[=+\-@\t\r\uFF0B\uFF0D\uFF1D\uFF20]/;
const plainNumber = /^[+-]?\d+(?:\.\d+)?$/;

const special: Readonly<Record<CsvDialect['delimiter'], RegExp>> = {
  ',': /[",\r\n]/,
  ';': /[";\r\n]/,
  '\t': /["\t\r\n]/,
  '|': /["|\r\n]/,
};

/** Makes the function that writes one cell: nothing for null, quoted where the text needs it. */
export function csvCell({ delimiter, safe }: CsvDialect): (value: unknown) => string {
  const quoted = special[delimiter];
  const plain = (value: unknown): string => {
    if (value === null || value === undefined) return '';
    // No field is documented as an object, but one that comes is not lost.
    if (typeof value === 'object') return plain(JSON.stringify(value));
    if (typeof value !== 'string') return String(value);
    if (value === '') return '""';
    return quoted.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  };
  if (!safe) return plain;
  return (value) =>
    plain(typeof value === 'string' && formula.test(value) && !plainNumber.test(value) ? `'${value}` : value);
}
