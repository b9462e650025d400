import type { Version } from '../version.ts';
import { fields } from './fields.ts';
import { viewV2, viewV3 } from './generated/adapters.ts';
import type { Call, CallV2, CallV3 } from './generated/calls.ts';
import type { Row } from './generated/checks.ts';

const neutralNames = new Set(fields.map((spec) => spec.name));

/**
 * A version-neutral call as the given version would send it: every field of that version, null where the call has
 * nothing, fields of the other version left out, unknown fields kept.
 */
export function fromCall(call: Call, version: 'v2'): CallV2;
export function fromCall(call: Call, version: 'v3'): CallV3;
export function fromCall(call: Call, version: Version): CallV2 | CallV3;
export function fromCall(call: Call, version: Version): CallV2 | CallV3 {
  const view = version === 'v2' ? viewV2(call as Row) : viewV3(call as Row);
  for (const [name, value] of Object.entries(call)) {
    if (neutralNames.has(name) || Object.hasOwn(view, name)) continue;
    Object.defineProperty(view, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return view as unknown as CallV2 | CallV3;
}
