// Test kit for code that talks to the call-attribution API: made-up calls, a hostile server, fast policies.
// Everything runs on loopback and is deterministic; nothing here belongs into production code.
// The server misbehaves on request, one fault a request, so that each recovery can be shown.
export { fastRetry } from './fast-retry.ts';
export {
  type CountForm,
  type Fault,
  type FaultConditions,
  FaultSyntaxError,
  mergeFaults,
  parseFaults,
  type RequestKind,
} from './fault.ts';
export { faults, type HostileFault } from './faults.ts';
export {
  type HostileOptions,
  type HostileServer,
  type SeenRequest,
  startHostileServer,
} from './hostile-server.ts';
export { makeCalls, makeWireCalls } from './make-calls.ts';
export { createManualClock, type ManualClock } from './manual-clock.ts';
export { createMockAgent, type MockOptions } from './mock-agent.ts';
export { type Later, type PlannedResponse, responseInstead, sendResponse } from './send-response.ts';
