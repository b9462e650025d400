import { createWriteStream } from 'node:fs';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileError, type Io, isSpecial, say, show, write } from '../io.ts';
import { type Style, styleFor, widthOf } from '../terminal/style.ts';

type Lines = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

/** Where something goes: the file of --output as it was typed, or stdout for null. */
interface Place {
  readonly output: string | null;
}

/** Writes lines to a file that appears when it is complete, to a pipe or device as it is, or to stdout for `-`. */
export async function saveLines(shown: string, lines: Lines, io: Io): Promise<void> {
  if (shown === '-') {
    for await (const line of lines) await write(io.stdout, line);
    return;
  }
  const path = resolve(io.cwd, shown);
  try {
    if (isSpecial(path)) await pipeline(Readable.from(lines), createWriteStream(path, { flags: 'r+' }));
    else await (await import('@call-attribution/node-stream/files')).writeWholeFile(path, lines);
  } catch (error) {
    throw fileError(error, shown);
  }
}

/** The same for the result of a command, whose file is named at the end. */
export async function saveResult({ output }: Place, lines: Lines, io: Io): Promise<void> {
  await saveLines(output ?? '-', lines, io);
  if (output !== null) say(io, `wrote ${output}`);
}

/** The width and the colors of where lines for people go. */
export function screenOf(
  { output }: Place,
  io: Io,
): { readonly width: number | null; readonly style: Style } {
  const screen = output === null ? io.stdout : {};
  return { width: widthOf(screen, io.env), style: styleFor(screen, io.env) };
}

/** Lines for people: on the terminal, or in the file of --output. */
export async function showResult(place: Place, lines: readonly string[], io: Io): Promise<void> {
  if (place.output !== null) await saveResult(place, [`${lines.join('\n')}\n`], io);
  else if (lines.length > 0) await show(io, lines);
}
