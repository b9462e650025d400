import { fields, type Version } from './fields.ts';
import { viewV2, viewV3 } from './generated/adapters.ts';
import type { Call, CallV2, CallV3 } from './generated/calls.ts';
import type { Row } from './generated/checks.ts';

const neutralNames = new Set(fields.map((spec) => spec.name));

/**
 * A version-neutral call as the given version would send it: with every field of that version (null
 * where the call has no value), without fields of the other version, and with unknown fields as
 * they are.
 *
 * @example
 * response.end(JSON.stringify(fromCall(call, 'v2')));
 */
export function fromCall<V extends Version>(
  call: Call,
  version: V,
): V extends 'v2' ? CallV2 : CallV3;
export function fromCall(call: Call, version: Version): CallV2 | CallV3 {
  const view = version === 'v2' ? viewV2(call as Row) : viewV3(call as Row);
  const record = call as unknown as Readonly<Record<string, unknown>>;
  for (const name in record) {
    if (neutralNames.has(name) || Object.hasOwn(view, name)) continue;
    const value = record[name];
    Object.defineProperty(view, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }

  return view as unknown as CallV2 | CallV3;
}
