// Zod schemas of the call record, made from the same table as the types and validators.
// A door of its own, so that the client does not load zod: it checks records with generated static code.
// Unknown fields pass, as they do in the client.
export { callSchema, callV2Schema, callV3Schema } from '../record/generated/schemas.ts';
