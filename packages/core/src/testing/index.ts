// A test kit for code that uses the call-attribution API: fixture calls, a fake API with faults on
// request, a manual clock. Everything runs on loopback and is deterministic. None of it belongs in
// production code.
export {
  type ApiFault,
  type FakeApi,
  type FakeApiOptions,
  type FakeApiServer,
  fakeApi,
  fastRetry,
  faults,
  type SeenRequest,
} from './fake-api.ts';
export {
  type CountForm,
  type Fault,
  type FaultWords,
  mergeFaults,
  parseFaults,
  type RequestKind,
} from './fault.ts';
export { fixtureCalls } from './fixture-calls.ts';
export { createManualClock, type ManualClock } from './manual-clock.ts';
export { createMockAgent, type MockOptions } from './plan-response.ts';
export {
  type Later,
  type PlannedResponse,
  responseInstead,
  sendResponse,
} from './send-response.ts';
