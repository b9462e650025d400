import { appResource } from '../app/app.ts';
import type { MethodHandler } from '../protocol/definition.ts';
import { RpcError, rpcCodes } from '../protocol/messages.ts';
import { failureText, type Problem, ToolError } from '../text/failures.ts';
import type { ToolRunner, ToolSettings } from '../tools/call.ts';
import { conditionsDocument, fieldsDocument } from './documents.ts';

const markdown = 'text/markdown';

const resources = [
  {
    uri: 'calls://fields',
    name: 'fields',
    title: 'Fields of a call record',
    description: 'Every field with its group, unit and meaning, and whether it is masked.',
    mimeType: markdown,
  },
  {
    uri: 'calls://conditions',
    name: 'conditions',
    title: 'Conditions',
    description: 'The language of where, with examples.',
    mimeType: markdown,
  },
];

const callTemplate = /^calls:\/\/call\/([^/?#]{1,600})$/;

/** Handles the methods for resources. */
export function resourceHandlers(
  settings: ToolSettings,
  run: ToolRunner,
): Readonly<Record<string, MethodHandler>> {
  const documents: Readonly<Record<string, () => string>> = {
    'calls://fields': () => fieldsDocument(settings.fields, settings.version, settings.reveal),
    'calls://conditions': () => conditionsDocument(),
  };
  return {
    'resources/list': async () => ({ resources: [...resources, appResource.listed] }),
    'resources/templates/list': async () => ({
      resourceTemplates: [
        {
          uriTemplate: 'calls://call/{sid}',
          name: 'call',
          title: 'One call',
          description: 'One call by its sid, masked as in the tools.',
          mimeType: 'application/json',
        },
      ],
    }),
    async 'resources/read'(params, context) {
      const uri = typeof params.uri === 'string' ? params.uri : '';
      const write = Object.hasOwn(documents, uri) ? documents[uri] : undefined;
      if (write) return { contents: [{ uri, mimeType: markdown, text: write() }] };
      if (uri === appResource.uri) return { contents: appResource.contents };
      const sid = sidOf(uri);
      if (sid === undefined) throw notFound(params.uri);
      try {
        const call = await run('get_call', { sid }, context);
        return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(call) }] };
      } catch (error) {
        if (!(error instanceof ToolError)) throw error;
        const { problem } = error;
        throw new RpcError(codeOf(problem), failureText(problem), { uri });
      }
    },
  };
}

/** Not an internal error: the text says what failed, and whose turn it is. */
function codeOf(problem: Problem): number {
  if (problem.code !== 'api_error')
    return problem.code === 'invalid_argument' ? rpcCodes.invalidParams : rpcCodes.serverError;
  const { code } = problem.error;
  if (code === 'not_found') return rpcCodes.resourceNotFound;
  return code === 'bad_request' || code === 'invalid_option' ? rpcCodes.invalidParams : rpcCodes.serverError;
}

function sidOf(uri: string): string | undefined {
  const encoded = callTemplate.exec(uri)?.[1];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

function notFound(uri: unknown): RpcError {
  const known = [...resources.map((resource) => resource.uri), 'calls://call/{sid}'].join(', ');
  return new RpcError(rpcCodes.resourceNotFound, `Resource not found. The resources are ${known}.`, {
    uri: typeof uri === 'string' ? uri.slice(0, 600) : null,
  });
}
