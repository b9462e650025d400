import { type Call, fields } from '@call-attribution/core';

const shared = fields.flatMap((f) => (f.v2 !== null && f.v2 === f.v3 ? [[f.name, f.name] as const] : []));
const onlyV2 = fields.flatMap((f) => (f.v2 !== null && f.v2 !== f.v3 ? [[f.name, f.v2] as const] : []));
const onlyV3 = fields.flatMap((f) => (f.v3 !== null && f.v2 !== f.v3 ? [[f.name, f.v3] as const] : []));
const known = new Set(fields.flatMap((f) => [f.name, f.v2, f.v3]));

/** What the records of both versions share, and the end of the record of each. */
export function documentParts(call: Call): { common: string; v2: string; v3: string } {
  const record = call as unknown as Record<string, unknown>;
  const print = (list: readonly (readonly [string, string])[]) =>
    list.map(([name, wire]) => `${JSON.stringify(wire)}:${JSON.stringify(record[name] ?? null)}`).join(',');
  const unknown = Object.keys(record)
    .filter((name) => !known.has(name))
    .map((name) => `${JSON.stringify(name)}:${JSON.stringify(record[name])},`)
    .join('');
  return {
    common: `{${print(shared)},${unknown}`,
    v2: `${print(onlyV2)}}`,
    v3: `${print(onlyV3)}}`,
  };
}
