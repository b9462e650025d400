import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readTable, type TableCell } from '@call-attribution/settings/tables';
import { strToU8, zipSync } from 'fflate';
import { onTestFinished as afterwards, describe, expect, test } from 'vitest';

/** The rows of a file with this content, as `line: cells`. */
async function read(content: string | Uint8Array, name = 'file.csv') {
  const folder = mkdtempSync(join(tmpdir(), 'tables-'));
  afterwards(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, name), content);
  const rows = await readTable(join(folder, name), name);
  return rows.map(({ line, cells }): [number, ...TableCell[]] => [line, ...cells]);
}

const utf16 = (text: string, isBig = false) => {
  const bytes = Buffer.from(`\u{feff}${text}`, 'utf16le');
  return isBig ? bytes.swap16() : bytes;
};

/** A workbook as Excel writes it; `sheets` are the rows of its sheets, in XML. */
function workbook(sheets: Readonly<Record<string, string>>, more: object = {}): Uint8Array {
  const names = Object.keys(sheets);
  const xml = (text: string) =>
    strToU8(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${text}`);
  const list = names.map(
    (name, i) =>
      `<sheet name="${name}" sheetId="${i + 1}"${name === 'old' ? ' state="hidden"' : ''} r:id="rId${i + 1}"/>`,
  );
  const links = names.map(
    (_, i) => `<Relationship Id="rId${i + 1}" Target="worksheets/sheet${i + 1}.xml"/>`,
  );
  const files = names.map((name, i) => [
    `xl/worksheets/sheet${i + 1}.xml`,
    xml(`<worksheet><sheetData>${sheets[name]}</sheetData></worksheet>`),
  ]);
  return zipSync({
    '[Content_Types].xml': xml('<Types/>'),
    'xl/workbook.xml': xml(
      `<workbook xmlns:r="r"><workbookPr/><sheets>${list.join('')}</sheets></workbook>`,
    ),
    'xl/_rels/workbook.xml.rels': xml(`<Relationships>${links.join('')}</Relationships>`),
    'xl/sharedStrings.xml': xml(
      '<sst><si><t>Campaign</t></si><si><t>Day</t></si><si><r><t>Heat &amp; </t></r><r><rPr/><t xml:space="preserve">Air </t></r></si></sst>',
    ),
    'xl/styles.xml': xml(
      '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="#,##0.00\\ &quot;USD&quot;"/><numFmt numFmtId="165" formatCode="[$-409]mmm\\ d, yyyy"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>',
    ),
    ...Object.fromEntries(files),
    ...more,
  });
}

describe('rows of a file', () => {
  test('commas, semicolons and tabs are told apart, whatever stands above the table', async () => {
    const google =
      'Campaign report\r\n"October 1, 2026 - October 31, 2026"\r\nCampaign,Cost\r\nBrand,"1,033.33"\r\n';
    expect(await read(google)).toEqual([
      [1, 'Campaign report'],
      [2, 'October 1, 2026 - October 31, 2026'],
      [3, 'Campaign', 'Cost'],
      [4, 'Brand', '1,033.33'],
    ]);
    expect(await read('Bericht, Oktober\n\nKampagne;Kosten\nHeizung, Klima;1.033,33\n')).toEqual([
      [1, 'Bericht, Oktober'],
      [3, 'Kampagne', 'Kosten'],
      [4, 'Heizung, Klima', '1.033,33'],
    ]);
    expect(await read('Campaign\tCost\nA, B and C\t1,000\nD, E\t2,000\n')).toEqual([
      [1, 'Campaign', 'Cost'],
      [2, 'A, B and C', '1,000'],
      [3, 'D, E', '2,000'],
    ]);
  });
  test('a row has the line on which it begins, also below a value of several lines', async () => {
    expect(await read('a,b\n"x\r\ny\nz",1\n\n,\nlast,"""2"""\n')).toEqual([
      [1, 'a', 'b'],
      [2, 'x\r\ny\nz', '1'],
      [7, 'last', '"2"'],
    ]);
  });
  test('UTF-8 and UTF-16 are read, with and without a byte order mark', async () => {
    const rows = [
      [1, 'Kampagne', 'Kosten'],
      [2, 'Köln', '1,50'],
    ];
    const text = 'Kampagne\tKosten\nKöln\t1,50\n';
    for (const content of [
      text,
      `\u{feff}${text}`,
      utf16(text),
      utf16(text, true),
      utf16(text).subarray(2),
    ])
      expect(await read(content)).toEqual(rows);
    await expect(read(Buffer.from(text, 'latin1'))).rejects.toThrow(
      'file.csv: it is no text in UTF-8 or UTF-16, and no .xlsx or ZIP file; save it as "CSV UTF-8"',
    );
  });
  test('a value in quotes that does not end is refused with its row', async () => {
    await expect(read('a,b\nx,1\ny,"2\nz,3\n')).rejects.toThrow(
      'file.csv, row 3: a value in quotes does not end; download the file again: it may be cut',
    );
    await expect(read('a,b\nx,1\n"y"y,2\nz,3\n')).rejects.toThrow(
      'file.csv, row 3: the quotes of a value are not doubled',
    );
  });
  test('a sheet of Excel gives texts, numbers and dates, with its row numbers', async () => {
    const rows =
      '<row r="3"><c r="A3" t="s"><v>0</v></c><c r="B3" t="s"><v>1</v></c><c r="D3" t="inlineStr"><is><t>Cost</t></is></c></row>' +
      '<row r="4"/><row r="5"><c r="A5" t="s"><v>2</v></c><c r="B5" s="3"><v>46296</v></c><c r="D5" s="2"><v>1033.33</v></c></row>' +
      '<row><c t="str"><f>A5</f><v>Ä &lt;1&gt; &#196;</v></c><c s="1"><v>46296.354166667</v></c><c t="b"><v>1</v></c><c><v>3.5E3</v></c></row>';
    const expected = [
      [3, 'Campaign', 'Day', '', 'Cost'],
      [5, 'Heat & Air', '2026-10-01', '', 1033.33],
      [6, 'Ä <1> Ä', '2026-10-01 08:30:00', '1', 3500],
    ];
    expect(await read(workbook({ Report: rows, old: rows }), 'report.xlsx')).toEqual(expected);
    expect(await read(zipSync({ 'in/report.xlsx': workbook({ a: rows }) }))).toEqual(expected);
  });
  test('a sheet with many texts with entities is read whole', async () => {
    const rows = Array.from(
      { length: 3000 },
      (_, i) => `<row r="${i + 1}"><c t="inlineStr"><is><t>A &amp; &#66;</t></is></c></row>`,
    );
    const read2 = await read(workbook({ a: rows.join('') }));
    expect(read2).toHaveLength(3000);
    expect(read2.at(-1)).toEqual([3000, 'A & B']);
  });
  test('a ZIP file is read when it holds one table', async () => {
    const csv = strToU8('Campaign,Cost\nBrand,1\n');
    const junk = { '__MACOSX/._report.csv': csv, 'readme.pdf': csv };
    expect(await read(zipSync({ 'report.csv': csv, ...junk }))).toEqual([
      [1, 'Campaign', 'Cost'],
      [2, 'Brand', '1'],
    ]);
    await expect(read(zipSync({ 'a.csv': csv, 'b.tsv': csv }), 'all.zip')).rejects.toThrow(
      'all.zip: this ZIP file has more than one table in it: a.csv, b.tsv; unpack it, and name the file that is meant',
    );
    await expect(read(zipSync(junk), 'all.zip')).rejects.toThrow(
      'all.zip: there is no CSV, TSV or .xlsx file in this ZIP file',
    );
    const broken = zipSync({ 'a.csv': strToU8('a,"b\n') });
    await expect(read(broken, 'all.zip')).rejects.toThrow('all.zip (a.csv), row 1: a value in');
  });
  test.each([
    ['a missing file', null, 'file.csv: there is no such file'],
    [
      'two sheets',
      workbook({ May: '<row><c><v>1</v></c></row>', June: '<row><c><v>2</v></c></row>' }),
      'file.csv: it has 2 sheets with rows: May, June',
    ],
    [
      'a cut ZIP file',
      zipSync({ 'a.csv': strToU8('a,b\n'.repeat(99)) }).subarray(0, 90),
      'file.csv: this ZIP or .xlsx file is cut or damaged',
    ],
    [
      'a damaged sheet',
      workbook({ a: '<row>' }, { 'xl/workbook.xml': strToU8('<workbook') }),
      'file.csv: this .xlsx file is damaged',
    ],
    [
      'an old Excel',
      Buffer.from('d0cf11e0a1b11ae1', 'hex'),
      'file.csv: it is a file of an old Excel (.xls), or one with a password',
    ],
    ['a web page', '<html><table>', 'file.csv: it is a web page or XML'],
    ['a picture', Buffer.from('89504e470d0a1a0a0000000d', 'hex'), 'file.csv: it is no text'],
  ])('%s is refused', async (_, content, message) => {
    const reading = content === null ? readTable('/nowhere/file.csv', 'file.csv') : read(content);
    await expect(reading).rejects.toThrow(message);
    await expect(reading).rejects.toMatchObject({ code: 'invalid_option' });
  });
  test('a ZIP file that unpacks to more than 64 MB is refused', async () => {
    const bomb = zipSync({ 'a.csv': new Uint8Array(65 * 1024 * 1024).fill(65) });
    expect(bomb.length).toBeLessThan(100_000);
    await expect(read(bomb)).rejects.toThrow('what is packed in it is larger than 64 MB');
  });
});
