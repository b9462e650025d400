import { day, formatNaive, second } from '@call-attribution/core/time';
import { XMLParser } from 'fast-xml-parser';
import { type TableCell, type TableRow, tableProblem } from './table.ts';

// The rows of a sheet of Excel. Its cells are XML; texts stand in a list of their own, and whether a
// number is a date is told by its format alone.

/** What a parsed element is: its text, or its attributes and elements by their names. */
type Node = unknown;

/** What cells refer to. */
interface Workbook {
  readonly texts: readonly string[];
  /** Whether numbers of a style, by its place, are dates. */
  readonly isDate: readonly boolean[];
  /** The day 0 of dates. */
  readonly zero: number;
}

/** Reads the only visible sheet with rows of an unpacked `.xlsx` file. */
export function readSheet(entries: ReadonlyMap<string, Uint8Array>, called: string): TableRow[] {
  let sheets: readonly { readonly name: string; readonly rows: TableRow[] }[];
  try {
    sheets = readSheets(entries).filter(({ rows }) => rows.length > 0);
  } catch {
    throw tableProblem(called, null, 'this .xlsx file is damaged', 'download it again');
  }

  const [first] = sheets;
  if (sheets.length <= 1) return first?.rows ?? [];
  throw tableProblem(
    called,
    null,
    `it has ${sheets.length} sheets with rows: ${sheets.map(({ name }) => name).join(', ')}`,
    'save the one that is meant as CSV, or remove the others',
  );
}

function readSheets(entries: ReadonlyMap<string, Uint8Array>) {
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '',
    parseTagValue: false,
    trimValues: false,
    removeNSPrefix: true,
    htmlEntities: true,
  });
  const read = (name: string): Node => parser.parse(new TextDecoder().decode(entries.get(name)));

  const workbook = within(read('xl/workbook.xml'), 'workbook');
  const links = listIn(read('xl/_rels/workbook.xml.rels'), 'Relationships', 'Relationship');
  const targets = new Map(
    links.map((link) => [
      textIn(link, 'Id'),
      textIn(link, 'Target').replace(/^(?:\/?xl\/)?/, 'xl/'),
    ]),
  );
  const is1904 = /^(?:1|true)$/.test(textIn(within(workbook, 'workbookPr'), 'date1904'));
  const book: Workbook = {
    texts: listIn(read('xl/sharedStrings.xml'), 'sst', 'si').map(richText),
    isDate: dateStyles(within(read('xl/styles.xml'), 'styleSheet')),
    zero: is1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, 30),
  };
  return listIn(workbook, 'sheets', 'sheet')
    .filter((sheet) => !/hidden/i.test(textIn(sheet, 'state')))
    .map((sheet) => ({
      name: textIn(sheet, 'name'),
      rows: rowsOf(read(targets.get(textIn(sheet, 'id')) ?? ''), book),
    }));
}

function rowsOf(sheet: Node, book: Workbook): TableRow[] {
  const rows: TableRow[] = [];
  let line = 0;
  for (const row of listIn(sheet, 'worksheet', 'sheetData', 'row')) {
    line = Number(textIn(row, 'r')) || line + 1;
    const cells: TableCell[] = [];
    for (const cell of listIn(row, 'c')) {
      const place = columnOf(textIn(cell, 'r')) ?? cells.length;
      while (cells.length < place) cells.push('');
      cells[place] = cellOf(cell, book);
    }
    if (cells.some((cell) => cell !== '')) rows.push({ line, cells });
  }

  return rows;
}

/** The place of the column that a cell such as `AB12` is in; null where it says none. */
function columnOf(cell: string): number | null {
  const letters = /^[A-Z]{1,3}/.exec(cell)?.[0];
  if (letters === undefined) return null;
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

function cellOf(cell: Node, { texts, isDate, zero }: Workbook): TableCell {
  const written = textIn(cell, 'v');
  const type = textIn(cell, 't');
  if (type === 'inlineStr') return richText(within(cell, 'is')).trim();
  if (type === 's') return (texts[Number(written)] ?? '').trim();
  if ((type !== '' && type !== 'n') || written === '') return written.trim();
  const number = Number(written);
  if (isDate[Number(textIn(cell, 's'))] !== true) return number;

  // A date is a number of days, of which the fraction is a time of day.
  const text = formatNaive(Math.round((zero + number * day) / second) * second);
  return Number.isInteger(number) ? text.slice(0, 10) : text;
}

/** Which styles of cells are dates: their format has letters of a date outside of quotes. */
function dateStyles(styles: Node): boolean[] {
  const formats = new Map(
    listIn(styles, 'numFmts', 'numFmt').map((format) => [
      textIn(format, 'numFmtId'),
      /[dmyhs]/i.test(textIn(format, 'formatCode').replace(/"[^"]*"|\[[^\]]*\]|[\\_*]./g, '')),
    ]),
  );
  return listIn(styles, 'cellXfs', 'xf').map((style) => {
    const id = textIn(style, 'numFmtId');
    return formats.get(id) ?? /^(?:1[4-9]|2[0-2]|2[7-9]|3[0-6]|4[5-7]|5[0-8])$/.test(id);
  });
}

/** A text that may be in pieces, each of a format of its own. */
const richText = (node: Node): string =>
  `${textIn(node, 't')}${listIn(node, 'r')
    .map((piece) => textIn(piece, 't'))
    .join('')}`;

/** What is in an element under a name. */
const within = (node: Node, name: string): Node =>
  typeof node === 'object' && node !== null && name in node
    ? (node as Readonly<Record<string, Node>>)[name]
    : undefined;

/** A text in an element: an element of text alone, one with attributes, or an attribute. */
function textIn(node: Node, name: string): string {
  const found = within(node, name);
  const text = typeof found === 'object' ? within(found, '#text') : found;
  return typeof text === 'string' ? text : '';
}

/** The elements on a way of names; of the last name there may be several. */
function listIn(node: Node, ...names: readonly string[]): readonly Node[] {
  const found = names.reduce<Node>(within, node);
  if (found === undefined) return [];
  return Array.isArray(found) ? found : [found];
}
