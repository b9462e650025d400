import { Writable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Io, type Output, say, show, write } from '../src/io.ts';
import { bar, sparkline, squeeze } from '../src/terminal/chart.ts';
import { bytes, count, duration, plural } from '../src/terminal/numbers.ts';
import { progressLine } from '../src/terminal/progress.ts';
import { styleFor, widthOf } from '../src/terminal/style.ts';
import { fitTable, renderTable } from '../src/terminal/table.ts';
import { beginWaiting, whileWaiting, withWaiting } from '../src/terminal/waiting.ts';
import { fit, pad, printable, textWidth } from '../src/terminal/width.ts';

function output(terminal: boolean, columns = 60): { stream: Output; text: () => string } {
  let text = '';
  const stream: Output = new Writable({
    write(chunk, _, done) {
      text += String(chunk);
      done();
    },
  });
  stream.isTTY = terminal;
  stream.columns = columns;
  return { stream, text: () => text };
}
const plainStyle = styleFor(output(false).stream, {});

test.each([
  ['abc', 3],
  ['日本語', 6],
  ['e\u0301', 1],
  ['👩‍👩‍👧', 2],
  ['🇩🇪', 2],
  ['ｱ', 1],
  ['한글', 4],
  ['', 0],
])('%s takes %i cells', (text, cells) => {
  expect(textWidth(text)).toBe(cells);
});

test('a cut string fits, never splits a character and shows that something is missing', () => {
  expect(fit('日本語テキスト', 6)).toBe('日本…');
  expect(fit('👩‍👩‍👧👩‍👩‍👧', 3)).toBe('👩‍👩‍👧…');
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 30 }),
      fc.integer({ min: 1, max: 20 }),
      (text, width) => {
        const shown = fit(printable(text), width);
        expect(textWidth(shown)).toBeLessThanOrEqual(width);
        expect(textWidth(pad(shown, width))).toBe(width);
      },
    ),
  );
});

const hostile = 'a\u001b]0;title\u0007b\u001b[2Jc\u009b31md\u007f\u0000e\u202ef\u2066g\rh';
const harmless = 'a\\u001b]0;title\\u0007b\\u001b[2Jc\\u009b31md\\u007f\\u0000e\\u202ef\\u2066g\\u000dh';

test('no control character of a server, a file or a name reaches a terminal or a line for people; colors of our own do', async () => {
  const [stdout, stderr] = [output(true), output(true)];
  const io: Io = { ...({} as Io), stdout: stdout.stream, stderr: stderr.stream, env: { LANG: 'C.UTF-8' } };
  const { red } = styleFor(stderr.stream, io.env);
  say(io, `${red('calls:')} ${hostile}`);
  expect(stderr.text()).toBe(`\u001b[31mcalls:\u001b[39m ${harmless}\n`);
  await show(io, [red('x'), hostile, 'two\twords']);
  expect(stdout.text()).toBe(`\u001b[31mx\u001b[39m\n${harmless}\ntwo\twords\n`);
  say(io, JSON.stringify({ path: '/\u009b2J\u202e' }));
  expect(JSON.parse(stderr.text().trimEnd().split('\n').at(-1) ?? '')).toEqual({ path: '/\u009b2J\u202e' });
  expect(stderr.text()).not.toMatch(/\u009b|\u202e/);
});

test('data is written as it is, but not to a terminal', async () => {
  const [pipe, terminal] = [output(false), output(true)];
  for (const chunk of [hostile, Buffer.from(hostile), 'a,b\r\n']) {
    await write(pipe.stream, chunk);
    await write(terminal.stream, chunk);
  }
  expect(pipe.text()).toBe(`${hostile}${hostile}a,b\r\n`);
  expect(terminal.text()).toBe(`${harmless}${harmless}a,b\r\n`);
});

test('a line about progress or waiting has no control characters but its own', async () => {
  const stderr = output(true);
  const line = progressLine(stderr.stream, { label: hostile, clock: { now: () => 0 } });
  line.update({ done: 1, total: 2, rate: 1, note: hostile });
  line.close();
  expect(stderr.text().replaceAll('\r\u001b[2K', '')).not.toMatch(/(?!\n)\p{Cc}|\u202e/u);
});

test('text from outside cannot move the cursor, change colors or turn the direction', () => {
  expect(printable('a\u001b[31mred\u0007')).toBe('a\ufffd[31mred\ufffd');
  expect(printable('one\ntwo\tthree')).toBe('one two three');
  expect(printable('ab\u202ecd\u200b')).toBe('abcd');
  fc.assert(
    fc.property(fc.array(fc.nat(0x10ffff), { maxLength: 40 }), (points) => {
      const text = String.fromCodePoint(...points);
      expect(printable(text)).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
    }),
  );
});

test('a table fits the width: the widest columns shrink, then the last ones are dropped', () => {
  const columns = [
    { title: 'Sid' },
    { title: 'Campaign' },
    { title: 'Talk', align: 'right' as const },
    { title: 'Page' },
  ];
  const rows = [
    ['1', 'Brand – Schuhe und mehr', '1.5', 'https://example.com/a/very/long/path'],
    ['22', '日本語のキャンペーン', '12.0', '/'],
  ];
  for (const width of [200, 60, 40, 24]) {
    const { lines, dropped } = renderTable(columns, rows, { width, style: plainStyle });
    for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(width);
    expect(dropped.length > 0).toBe(width < 29);
  }
  expect(renderTable(columns, rows, { width: null, style: plainStyle }).lines[1]).toContain(
    '/a/very/long/path',
  );
});

test('columns of a high rank are dropped first, and below 60 columns the rows are shown one below the other', () => {
  const columns = [
    { title: 'time', min: 19, rank: 0 },
    { title: 'sid', min: 13, rank: 9 },
    { title: 'minutes', min: 12, rank: 1 },
  ];
  const rows = [
    ['2026-11-20 14:30:00', '1000000001', '3.5'],
    ['2026-11-20 14:31:00', '1000000002', ''],
  ];
  const shown = (width: number) => fitTable(columns, rows, { width, style: plainStyle });
  expect(shown(60)).toMatchObject({ dropped: [] });
  expect(renderTable(columns, rows, { width: 36, style: plainStyle })).toMatchObject({
    lines: ['time                 minutes', '2026-11-20 14:30:00  3.5', '2026-11-20 14:31:00'],
    dropped: ['sid'],
  });
  expect(shown(36)).toEqual({
    lines: [
      'time     2026-11-20 14:30:00',
      'sid      1000000001',
      'minutes  3.5',
      '',
      'time     2026-11-20 14:31:00',
      'sid      1000000002',
    ],
    dropped: [],
  });
});

test('bars show every value above 0 and fit the width', () => {
  expect(bar(0, 10, 10)).toBe('');
  expect(bar(1, 1_000_000, 10)).toBe('▏');
  expect(bar(10, 10, 10)).toBe('██████████');
  expect(sparkline([0, 1, 4, 8])).toBe('·▁▄█');
  expect(squeeze([1, 1, 1, 1, 4], 2)).toEqual([1, 2.5]);
  expect(squeeze([3, 3, 3], 2)).toEqual([3, 3]);
  expect(squeeze([1, 2], 5)).toEqual([1, 2]);
  expect(squeeze([], 5)).toEqual([]);
});

test('numbers are formatted for people', () => {
  expect([count(0), count(999), count(1000), count(1234567)]).toEqual(['0', '999', '1,000', '1,234,567']);
  expect([plural(1, 'call'), plural(2, 'call'), plural(0, 'call')]).toEqual(['1 call', '2 calls', '0 calls']);
  expect([bytes(0), bytes(999), bytes(1500), bytes(12_300_000)]).toEqual([
    '0 B',
    '999 B',
    '1.5 kB',
    '12.3 MB',
  ]);
  expect([duration(400), duration(42_000), duration(187_000), duration(3_723_000)]).toEqual([
    '0.4 s',
    '42 s',
    '3:07',
    '1:02:03',
  ]);
});

const state = (done: number, total: number | null) => ({
  done,
  total,
  rate: 500,
  note: '',
});

test('on a terminal progress is one line, repainted within the width', () => {
  const { stream, text } = output(true, 50);
  let now = 0;
  const line = progressLine(stream, { label: 'calls', clock: { now: () => now } });
  for (let done = 0; done <= 1000; done += 100) {
    line.update(state(done, 1000));
    now += 40;
  }
  line.close();
  const paints = text().split('\r\u001b[2K').slice(1);
  expect(paints.length).toBeGreaterThan(3);
  expect(paints.length).toBeLessThan(8);
  for (const paint of paints) expect(textWidth(paint.trimEnd())).toBeLessThan(50);
  expect(paints.at(-1)).toMatch(/1,000 \/ 1,000 {2}100% {2}500\/s\n$/);
});

test('elsewhere progress is a plain line every few seconds, and nothing for a short read', () => {
  const { stream, text } = output(false);
  let now = 0;
  const line = progressLine(stream, { label: 'calls', clock: { now: () => now } });
  line.update(state(1, 10));
  line.close();
  expect(text()).toBe('');
  for (let done = 0; done <= 30; done++) {
    line.update(state(done, null));
    now += 1000;
  }
  line.close();
  expect(text().replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  expect(text().trim().split('\n').length).toBeGreaterThan(4);
});

test('colors are only for terminals, unless FORCE_COLOR is set', () => {
  const terminal = output(true).stream;
  expect(styleFor(terminal, {}).red('x')).toBe('\u001b[31mx\u001b[39m');
  for (const style of [
    styleFor(terminal, { NO_COLOR: '1' }),
    styleFor(terminal, { TERM: 'dumb' }),
    styleFor(output(false).stream, {}),
  ]) {
    expect(style.red('x')).toBe('x');
  }
  expect(styleFor(terminal, { CLICOLOR: '0' }).red('x')).toBe('x');
  expect(styleFor(output(false).stream, { CLICOLOR_FORCE: '0' }).red('x')).toBe('x');
  expect(styleFor(output(false).stream, { CLICOLOR_FORCE: '1', NO_COLOR: '1' }).red('x')).toBe('x');
  for (const env of [{ FORCE_COLOR: '1' }, { CLICOLOR_FORCE: '1' }])
    expect(styleFor(output(false).stream, env).red('x')).toBe('\u001b[31mx\u001b[39m');
  expect(widthOf(output(false).stream, {})).toBeNull();
  expect(widthOf(output(true, 90).stream, {})).toBe(90);
  expect(widthOf(output(true, 90).stream, { COLUMNS: '70' })).toBe(70);
});

const silence = (milliseconds: number): Promise<void> =>
  new Promise((done) => setTimeout(done, milliseconds));

test('after a silence a line says what is done: on a terminal it goes away, elsewhere it is said once', async () => {
  const run = async (isTerminal: boolean): Promise<string> => {
    const { stream, text } = output(isTerminal, 30);
    const io = { stderr: stream, env: {}, patience: 20 } as unknown as Io;
    await withWaiting(io, async () => {
      await whileWaiting('reading', async () => {});
      await whileWaiting('waiting for a server far away', () => silence(60));
      say(io, 'read');
      // Between two syncs nothing is expected to happen.
      await whileWaiting('syncing', () => whileWaiting(null, () => silence(60)));
    });
    return text();
  };
  expect(await run(true)).toBe('\r\u001b[2Kwaiting for a server far awa…\r\u001b[2Kread\n');
  expect(await run(false)).toBe('waiting for a server far away\nread\n');
  // Outside of a command nobody waits.
  beginWaiting('nothing')();
});
