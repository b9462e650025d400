// A test kit for code that uses the call-attribution API: fixture calls, a server with faults on
// request, a manual clock. Everything runs on loopback and is deterministic. None of it belongs in
// production code.
export {
  type CountForm,
  type Fault,
  type FaultWords,
  mergeFaults,
  parseFaults,
  type RequestKind,
} from './fault.ts';
export { fixtureCalls } from './fixture-calls.ts';
export {
  fastRetry,
  faults,
  type HostileFault,
  type HostileOptions,
  type HostileServer,
  type SeenRequest,
  startHostileServer,
} from './hostile-server.ts';
export { createManualClock, type ManualClock } from './manual-clock.ts';
export { createMockAgent, type MockOptions } from './plan-response.ts';
export {
  type Later,
  type PlannedResponse,
  responseInstead,
  sendResponse,
} from './send-response.ts';
