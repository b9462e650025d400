import type { Output } from '../io.ts';

/** Colors, or nothing where colors are not wanted. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

/**
 * Colors for this output: off when it is piped, with NO_COLOR or CLICOLOR=0, and on a dumb terminal. FORCE_COLOR and
 * CLICOLOR_FORCE turn them on, but not against NO_COLOR.
 */
export function styleFor(output: Output, env: Readonly<Record<string, string | undefined>>): Style {
  const forced = [env.FORCE_COLOR, env.CLICOLOR_FORCE].some((value) => Boolean(value) && value !== '0');
  const wanted = forced || (output.isTTY === true && env.TERM !== 'dumb' && env.CLICOLOR !== '0');
  const on = wanted && !env.NO_COLOR;
  const paint =
    (open: number, close: number) =>
    (text: string): string =>
      on && text !== '' ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39),
  };
}

/** Width to fit into; null for a pipe or a file, where nothing is cut. COLUMNS overrides both. */
export function widthOf(output: Output, env: Readonly<Record<string, string | undefined>>): number | null {
  const columns = Number(env.COLUMNS);
  if (Number.isInteger(columns) && columns >= 20) return columns;
  return output.isTTY === true ? Math.max(20, output.columns ?? 80) : null;
}
