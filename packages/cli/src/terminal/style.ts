import { styleText } from 'node:util';
import type { Io, Output } from '../io.ts';

type Screen = Pick<Output, 'isTTY' | 'columns'>;

const formats = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan'] as const;

/** Colors, or nothing where colors are not wanted. */
export type Style = Readonly<Record<(typeof formats)[number], (text: string) => string>>;

/** Goes to the beginning of a line and clears it. */
export const clearLine = '\r\u001b[2K';

/** Can a line be painted over? Not in a pipe or a file, and not on a dumb terminal. */
export const repaints = (output: Screen, env: Io['env']): boolean =>
  output.isTTY === true && env.TERM !== 'dumb';

/** The width of such a line, which must not reach into the next one. */
export const lineWidth = ({ columns }: Screen): number => Math.max(20, (columns ?? 80) - 1);

/**
 * Colors for this output: off when it is piped, with NO_COLOR or CLICOLOR=0, and on a dumb
 * terminal. FORCE_COLOR and CLICOLOR_FORCE turn them on, but not against NO_COLOR.
 */
export function styleFor(output: Screen, env: Io['env']): Style {
  const forced = [env.FORCE_COLOR, env.CLICOLOR_FORCE].some(
    (value) => Boolean(value) && value !== '0',
  );
  const wanted = forced || (repaints(output, env) && env.CLICOLOR !== '0');
  const on = wanted && !env.NO_COLOR;

  // Newer versions of Node.js would look at their own stdout once more.
  const paint =
    (format: keyof Style) =>
    (text: string): string =>
      on && text !== '' ? styleText(format, text, { validateStream: false }) : text;

  return Object.fromEntries(formats.map((format) => [format, paint(format)])) as Style;
}

/** Width to fit into; null for a pipe or a file, where nothing is cut. COLUMNS overrides both. */
export function widthOf(output: Screen, env: Io['env']): number | null {
  const columns = Number(env.COLUMNS);
  if (Number.isInteger(columns) && columns >= 20) return columns;
  return output.isTTY === true ? Math.max(20, output.columns ?? 80) : null;
}
