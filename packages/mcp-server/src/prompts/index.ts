import type { MethodHandler } from '../protocol/definition.ts';
import { RpcError, rpcCodes } from '../protocol/errors.ts';
import { isObject } from '../protocol/messages.ts';
import { attributionAudit } from './attribution-audit.ts';
import { comparePeriods } from './compare-periods.ts';
import { conversionEligibility } from './conversion-eligibility.ts';
import type { Prompt } from './prompt.ts';

/** Every prompt. */
export const prompts: readonly Prompt[] = [attributionAudit, conversionEligibility, comparePeriods];

/** Answers the methods for prompts. */
export function promptHandlers(): Readonly<Record<string, MethodHandler>> {
  return {
    'prompts/list': async () => ({
      prompts: prompts.map(({ name, title, description, arguments: args }) => ({
        name,
        title,
        description,
        arguments: args,
      })),
    }),
    async 'prompts/get'(params) {
      const prompt = prompts.find((each) => each.name === params.name);
      if (!prompt) {
        const known = prompts.map((each) => each.name).join(', ');
        throw new RpcError(rpcCodes.invalidParams, `There is no prompt of this name. Known: ${known}.`);
      }
      const args = readArguments(prompt, params.arguments);
      return {
        description: prompt.description,
        messages: [{ role: 'user', content: { type: 'text', text: prompt.write(args) } }],
      };
    },
  };
}

function readArguments(prompt: Prompt, given: unknown): Record<string, string> {
  const values = isObject(given) ? given : {};
  const args: Record<string, string> = {};
  for (const { name, required } of prompt.arguments) {
    const value = values[name];
    if (typeof value === 'string' && value.trim() !== '') args[name] = value.trim().slice(0, 200);
    else if (required)
      throw new RpcError(rpcCodes.invalidParams, `The prompt ${prompt.name} needs "${name}".`);
  }
  return args;
}
