import { open } from 'node:fs/promises';
import { ConfigurationError, codeOf } from '@call-attribution/core/errors';
import { readDelimited } from './delimited.ts';
import { type TableRow, tableProblem } from './table.ts';

/** Most bytes of a file, and of what is packed in it. */
const most = 64 * 1024 * 1024;

/**
 * Reads a file of rows as other programs write them: values separated by commas, semicolons or tabs,
 * in UTF-8 or UTF-16, or a sheet of Excel (`.xlsx`); either may be in a ZIP file, alone. The content
 * tells which it is, and no row is taken as headings. Throws a `ConfigurationError` for a file that
 * is missing, larger than 64 MB, damaged, or of another kind.
 *
 * @param called what messages call the file.
 * @example
 * for (const { line, cells } of await readTable('spend.csv')) console.log(line, cells[0]);
 */
export async function readTable(path: string, called: string = path): Promise<TableRow[]> {
  return rowsOf(await readBytes(path, called), called);
}

async function readBytes(path: string, called: string): Promise<Uint8Array> {
  try {
    const file = await open(path);
    try {
      const stats = await file.stat();
      if (stats.isDirectory()) throw tableProblem(called, null, 'it is a folder');
      if (stats.size > most) throw tableProblem(called, null, 'it is larger than 64 MB');
      return await file.readFile();
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    const code = codeOf(error) ?? 'unknown reason';
    const reason = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`;
    throw tableProblem(called, null, reason);
  }
}

async function rowsOf(bytes: Uint8Array, called: string, isInner = false): Promise<TableRow[]> {
  const starts = (...start: number[]) => start.every((byte, at) => bytes[at] === byte);
  if (starts(0xd0, 0xcf, 0x11, 0xe0))
    throw tableProblem(
      called,
      null,
      'it is a file of an old Excel (.xls), or one with a password',
      'save it as .xlsx or CSV without one',
    );
  if (!starts(0x50, 0x4b, 0x03, 0x04)) {
    const text = textOf(bytes, called);
    if (/^\s*</.test(text))
      throw tableProblem(called, null, 'it is a web page or XML', 'download it as CSV or .xlsx');
    return await readDelimited(text, called);
  }

  const entries = await unpack(bytes, called);
  if (entries.has('xl/workbook.xml')) {
    const { readSheet } = await import('./sheet.ts');
    return readSheet(entries, called);
  }

  const tables = [...entries.keys()];
  const [name = ''] = tables;
  if (tables.length !== 1 || isInner)
    throw tableProblem(
      called,
      null,
      tables.length === 0
        ? 'there is no CSV, TSV or .xlsx file in this ZIP file'
        : `this ZIP file has more than one table in it: ${tables.slice(0, 5).join(', ')}`,
      'unpack it, and name the file that is meant',
    );
  return await rowsOf(entries.get(name) ?? new Uint8Array(), `${called} (${name})`, true);
}

/** The files in a ZIP file that are tables or parts of a sheet, by their names. */
async function unpack(bytes: Uint8Array, called: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const { unzipSync } = await import('fflate');
  let size = 0;
  try {
    const unpacked = unzipSync(bytes, {
      filter({ name, originalSize }) {
        const isWanted =
          !/^__MACOSX\/|(?:^|\/)\./.test(name) &&
          (/\.(?:csv|tsv|txt|xlsx|zip)$/i.test(name) || /^xl\/.*\.(?:xml|rels)$/i.test(name));
        if (isWanted) size += originalSize;
        return isWanted && size <= most;
      },
    });
    if (size <= most) return new Map(Object.entries(unpacked));
  } catch {
    throw tableProblem(
      called,
      null,
      'this ZIP or .xlsx file is cut or damaged',
      'download it again',
    );
  }

  throw tableProblem(called, null, 'what is packed in it is larger than 64 MB');
}

/** The text of a file: it says its encoding with a byte order mark, or by its zeros. */
function textOf(bytes: Uint8Array, called: string): string {
  let encoding = 'utf-8';
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] !== 0 && bytes[1] === 0))
    encoding = 'utf-16le';
  if ((bytes[0] === 0xfe && bytes[1] === 0xff) || (bytes[0] === 0 && bytes[1] !== 0))
    encoding = 'utf-16be';
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Said below: it has bytes that are no text of that encoding.
  }

  throw tableProblem(
    called,
    null,
    'it is no text in UTF-8 or UTF-16, and no .xlsx or ZIP file',
    'save it as "CSV UTF-8"',
  );
}
