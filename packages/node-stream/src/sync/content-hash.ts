import { createHash } from 'node:crypto';
import type { Call } from '@call-attribution/core';

/** A hash of what a record says, whatever the order of its fields. */
export function contentHash(call: Call, ignored: ReadonlySet<string>): string {
  const entries = Object.entries(call).filter(([name]) => !ignored.has(name));
  const text = JSON.stringify(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
