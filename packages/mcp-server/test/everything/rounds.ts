import { createHmac } from 'node:crypto';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { text } from './content.ts';

// Tools of the stateless revision that need more input answer with what they need; the client calls
// again.

const elicit = (message: string, field: string, type = 'string') => ({
  method: 'elicitation/create',
  params: {
    message,
    requestedSchema: { type: 'object', properties: { [field]: { type } }, required: [field] },
  },
});
const sample = (prompt: string, maxTokens: number) => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: text(prompt) }], maxTokens },
});
const roots = { method: 'roots/list', params: {} };

const sign = (state: string): string =>
  `${state}.${createHmac('sha256', 'a key of the test').update(state).digest('hex')}`;

function openState(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const state = String(value).split('.')[0] ?? '';
  if (value !== sign(state))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'requestState failed its check');
  return state;
}

/** What a request brings along. */
export interface RequestContext {
  readonly clientCapabilities: Readonly<Record<string, unknown>>;
  readonly progressToken: string | number | undefined;
  notify(method: string, params: Record<string, unknown>): void;
}

type Params = Readonly<Record<string, unknown>>;
type Inputs = Record<string, Record<string, unknown> | undefined>;

const inputRequired = (inputRequests: object, state?: string) => ({
  resultType: 'input_required',
  inputRequests,
  ...(state === undefined ? {} : { requestState: sign(state) }),
});
const done = (value: string) => ({ content: [text(value)] });

function inputsOf(params: Params): Inputs {
  const inputs = params.inputResponses;
  return typeof inputs === 'object' && inputs !== null ? (inputs as Inputs) : {};
}

const answered = (inputs: Inputs, key: string, member: string): boolean =>
  typeof inputs[key] === 'object' && inputs[key]?.[member] !== undefined;

export const roundTools: Readonly<
  Record<string, (params: Params, context: RequestContext) => object>
> = {
  test_input_required_result_elicitation(params) {
    const inputs = inputsOf(params);
    const content = inputs.user_name?.content as { name?: unknown } | undefined;
    if (typeof content?.name === 'string') return done(`Hello, ${content.name}!`);
    return inputRequired({ user_name: elicit('What is your name?', 'name') });
  },
  test_input_required_result_sampling(params) {
    const content = inputsOf(params).capital_question?.content as { text?: string } | undefined;
    if (content) return done(String(content.text));
    return inputRequired({ capital_question: sample('What is the capital of France?', 100) });
  },
  test_input_required_result_list_roots(params) {
    const found = inputsOf(params).client_roots?.roots;
    if (Array.isArray(found)) return done(`Roots: ${found.map((root) => root.uri).join(', ')}`);
    return inputRequired({ client_roots: roots });
  },
  test_input_required_result_request_state(params) {
    const state = openState(params.requestState);
    if (state === 'asked' && answered(inputsOf(params), 'confirm', 'action'))
      return done('state-ok');
    return inputRequired({ confirm: elicit('Please confirm', 'ok', 'boolean') }, 'asked');
  },
  test_input_required_result_tampered_state(params) {
    const state = openState(params.requestState);
    if (state === 'asked') return done('state-ok');
    return inputRequired({ confirm: elicit('Please confirm', 'ok', 'boolean') }, 'asked');
  },
  test_input_required_result_multiple_inputs(params) {
    const state = openState(params.requestState);
    const inputs = inputsOf(params);
    const all = ['user_name', 'greeting', 'client_roots'].every((key) => inputs[key] !== undefined);
    if (state === 'asked' && all) return done('All inputs arrived.');
    const wanted = {
      user_name: elicit('What is your name?', 'name'),
      greeting: sample('Generate a greeting', 50),
      client_roots: roots,
    };
    return inputRequired(wanted, 'asked');
  },
  test_input_required_result_multi_round(params) {
    const state = openState(params.requestState);
    const inputs = inputsOf(params);
    if (state === 'two' && inputs.step2) return done('Both steps are done.');
    if (state === 'one' && inputs.step1) {
      return inputRequired(
        { step2: elicit('Step 2: What is your favorite color?', 'color') },
        'two',
      );
    }

    return inputRequired({ step1: elicit('Step 1: What is your name?', 'name') }, 'one');
  },
  test_input_required_result_capabilities(params, context) {
    if (Object.keys(inputsOf(params)).length > 0) return done('Thank you.');
    const wanted: Record<string, object> = {};
    if (context.clientCapabilities.elicitation) wanted.name = elicit('What is your name?', 'name');
    if (context.clientCapabilities.sampling) wanted.greeting = sample('Generate a greeting', 50);
    if (context.clientCapabilities.roots) wanted.roots = roots;
    return inputRequired(wanted, 'asked');
  },
  test_missing_capability(_params, context) {
    if (context.clientCapabilities.sampling) return done('The client can sample.');
    throw new ProtocolError(-32021, 'The client lacks the sampling capability', {
      requiredCapabilities: { sampling: {} },
    });
  },
};

export function roundPrompt(params: Params) {
  const content = inputsOf(params).user_context?.content as { context?: unknown } | undefined;
  if (content) {
    return { messages: [{ role: 'user', content: text(`Context: ${String(content.context)}`) }] };
  }
  return inputRequired({ user_context: elicit('What context should the prompt use?', 'context') });
}
