// Call records without the client, for programs that have them already: between the forms of the
// versions, field by field.
export { callerOf } from './caller.ts';
export { isTooDeep } from './depth.ts';
export { fields, isCallExtension, isFinalStatus } from './fields.ts';
export { fromCall } from './from-call.ts';
export type { Call } from './generated/calls.ts';
export {
  anyCharacter,
  anyText,
  compilePattern,
  type PatternPart,
  type Wildcard,
} from './pattern.ts';
export { isPhoneNumber, type PhoneNumber, phoneKey, readPhone } from './phone.ts';
export { readCall } from './read-call.ts';
export { isAscii, longestScrubbed, plainOf, scrub } from './scrub.ts';
export { toCall } from './to-call.ts';
