import { Writable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Io, type Output, say, show, write } from '../src/io.ts';
import { styleFor, widthOf } from '../src/terminal/style.ts';
import { beginWaiting, progressLine, whileWaiting, withWaiting } from '../src/terminal/waiting.ts';
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
const harmless =
  'a\\u001b]0;title\\u0007b\\u001b[2Jc\\u009b31md\\u007f\\u0000e\\u202ef\\u2066g\\u000dh';

test('no control character of a server, a file or a name reaches a terminal or a line for people; colors of our own do', async () => {
  const stdout = output(true);
  const stderr = output(true);
  const io: Io = {
    ...({} as Io),
    stdout: stdout.stream,
    stderr: stderr.stream,
    env: { LANG: 'C.UTF-8' },
  };
  const { red } = styleFor(stderr.stream, io.env);
  say(io, `${red('calls:')} ${hostile}`);
  expect(stderr.text()).toBe(`\u001b[31mcalls:\u001b[39m ${harmless}\n`);
  await show(io, [red('x'), hostile, 'two\twords']);
  expect(stdout.text()).toBe(`\u001b[31mx\u001b[39m\n${harmless}\ntwo\twords\n`);
  say(io, JSON.stringify({ path: '/\u009b2J\u202e' }));
  expect(JSON.parse(stderr.text().trimEnd().split('\n').at(-1) ?? '')).toEqual({
    path: '/\u009b2J\u202e',
  });
  expect(stderr.text()).not.toMatch(/\u009b|\u202e/);
});

test('data is written as it is, but not to a terminal', async () => {
  const pipe = output(false);
  const terminal = output(true);
  for (const chunk of [hostile, Buffer.from(hostile), 'a,b\r\n']) {
    await write(pipe.stream, chunk);
    await write(terminal.stream, chunk);
  }

  expect(pipe.text()).toBe(`${hostile}${hostile}a,b\r\n`);
  expect(terminal.text()).toBe(`${harmless}${harmless}a,b\r\n`);
});

test('a line about progress or waiting has no control characters but its own', async () => {
  const stderr = output(true);
  const line = progressLine({ stderr: stderr.stream, env: {} }, hostile);
  line.update({ done: 1, total: 2, rate: 1, note: hostile });
  line.close();
  expect(stderr.text().replaceAll('\r\u001b[2K', '')).not.toMatch(/(?!\n)\p{Cc}|\u202e/u);
});

test('text from outside cannot move the cursor, change colors or turn the direction', () => {
  expect(printable('a\u001b[31mred\u0007')).toBe('a\\u001b[31mred\\u0007');
  expect(printable('one\ntwo\tthree')).toBe('one two three');
  expect(printable('ab\u202ecd')).toBe('ab\\u202ecd');
  fc.assert(
    fc.property(fc.array(fc.nat(0x10ffff), { maxLength: 40 }), (points) => {
      const text = String.fromCodePoint(...points);
      expect(printable(text)).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
    }),
  );
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
