import { createHash } from 'node:crypto';

/** Adds a checksum over everything in an object, whatever the order of its names, as a database may keep it. */
export function seal<T extends object>(value: T): T & { readonly seal: string } {
  return { ...value, seal: checksumOf(value) };
}

/** Whether an object is as it was sealed. */
export function isSealed(value: object): boolean {
  if (!('seal' in value)) return false;
  const { seal: found, ...rest } = value;
  return found === checksumOf(rest);
}

const checksumOf = (value: unknown): string =>
  createHash('sha256').update(canonical(value)).digest('hex').slice(0, 16);

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`).join(',')}}`;
}
