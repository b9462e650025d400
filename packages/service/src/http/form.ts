import { type AppContext, queryOf } from './context.ts';
import { readParameters } from './parameters.ts';
import { Refusal } from './refusal.ts';

const mostFormBytes = 8_192;

/** The parameters of a form that is sent by POST, together with those of the query. */
export async function readForm(
  c: AppContext,
  names: readonly string[],
): Promise<Map<string, string>> {
  const type = c.req.header('content-type') ?? '';
  if (!/^application\/x-www-form-urlencoded\b/i.test(type)) {
    throw new Refusal('unknown_form', 'A POST must be of type application/x-www-form-urlencoded');
  }

  if (c.env.incoming?.readableDidRead)
    throw new Refusal('form_lost', 'The form was read before it reached the service');
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of c.req.raw.body ?? []) {
    size += chunk.length;
    if (size > mostFormBytes)
      throw new Refusal('form_too_long', `The form is longer than ${mostFormBytes} bytes`);
    chunks.push(chunk);
  }

  // A parameter in both places counts as given twice.
  const form = new TextDecoder().decode(Buffer.concat(chunks));
  return readParameters([queryOf(c), form].join('&'), names);
}
