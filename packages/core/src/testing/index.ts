// Test kit for code that talks to the call-attribution API: made-up calls, a hostile server, fast policies.
// Everything runs on loopback and is deterministic; nothing here belongs into production code.
// The server misbehaves on request, one fault a request, so that each recovery can be shown.
export { makeCalls, makeWireCalls } from './make-calls.ts';
