import { readFileSync } from 'node:fs';

/** Version of this package, from the manifest next to `src` or `dist`. */
export const version: string = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
).version;
