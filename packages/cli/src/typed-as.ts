import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The text of a launcher or of a shim of a package manager is short. */
const launcherBytes = 16_384;

const isWindows = process.platform === 'win32';
const fileName = isWindows ? 'calls.cmd' : 'calls';

/**
 * What to type for this program, in this terminal or in another one: a name only where it leads to
 * this program, since npx, or a program of somebody else, would answer to it elsewhere.
 */
export function typedAs(
  path: string,
  { PATH = '', Path = PATH }: Readonly<Record<string, string | undefined>>,
): string {
  if (/[\\/]_npx[\\/]/.test(path)) return 'npx @call-attribution/cli';
  const program = realpathSync(path);

  // npx and scripts of package.json put a folder before PATH that other terminals do not have.
  const onPath = Path.split(delimiter)
    .filter((folder) => folder !== '' && !/[\\/]node_modules[\\/]\.bin[\\/]?$/.test(folder))
    .map((folder) => join(folder, fileName))
    .find((file) => existsSync(file));
  if (onPath !== undefined && startsProgram(onPath, program)) return 'calls';

  const [project = '', ...inPackages] = program.split(/[\\/]node_modules[\\/]/);
  const launchers = inPackages.length === 0 ? [] : ['.', 'node_modules/.bin'];
  const launcher = launchers
    .map((folder) => join(project, folder, fileName))
    .find((file) => existsSync(file) && startsProgram(file, program));
  return launcher === undefined ? `node ${quoted(program)}` : quoted(launcher);
}

/** Is this file a link to the program, or a script that names its package? */
function startsProgram(file: string, program: string): boolean {
  try {
    if (realpathSync(file) === program) return true;
    const stats = statSync(file);
    const isShort = stats.isFile() && stats.size <= launcherBytes;
    return isShort && /[\\/]@call-attribution[\\/]cli[\\/]/.test(readFileSync(file, 'utf8'));
  } catch {
    return false;
  }
}

/** A path as a shell takes it. */
function quoted(path: string): string {
  if (/^[\w./:@+\\-]+$/.test(path) && (isWindows || !path.includes('\\'))) return path;
  return isWindows ? `"${path}"` : `'${path.replaceAll("'", `'\\''`)}'`;
}
