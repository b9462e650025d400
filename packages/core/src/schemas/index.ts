// Zod schemas of the call record, made from the same table as the types and validators. Unknown fields pass, as they do
// in the client. This is an entry point of its own so that the client, which checks records with generated code, does not
// load Zod.
export { callSchema, callV2Schema, callV3Schema } from '../record/generated/schemas.ts';
