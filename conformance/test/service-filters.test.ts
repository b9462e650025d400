import { describe, expect, test } from 'vitest';
import { bearer, calls, openWorld, sidsOf } from './world.ts';

const { get } = await openWorld();
const v2 = '/v2/user/bid-management';
const ask = async (q: string) =>
  sidsOf((await get(`${v2}?q=${q.replaceAll(' ', '%20')}`, bearer)).json());
const sids = (keep: (call: (typeof calls)[number]) => boolean) =>
  calls.filter(keep).map(({ sid }) => sid);
const at = (i: number) => calls[i]?.date_added as string;
const talk = (call: (typeof calls)[number]) => Number(call.talk_minutes);
const low = at(10);
const high = at(40);

describe('a filter', () => {
  test('[R50][R58] selects the calls in a range of date_added', async () => {
    expect(await ask(`date_added:[${low} TO ${high}}`)).toEqual(
      sids((c) => c.date_added >= low && c.date_added < high),
    );
  });

  test('[R51][R52] includes the bound of a square bracket and excludes that of a brace', async () => {
    expect(await ask(`date_added:[${low} TO ${high}]`)).toEqual(
      sids((c) => c.date_added >= low && c.date_added <= high),
    );
    expect(await ask(`date_added:{${low} TO ${high}]`)).toEqual(
      sids((c) => c.date_added > low && c.date_added <= high),
    );
    expect(await ask(`date_added:{${low} TO ${high}}`)).toEqual(
      sids((c) => c.date_added > low && c.date_added < high),
    );
  });

  test('[R53] requires TO with one space on each side', async () => {
    for (const q of [
      `date_added:[${low}TO${high}]`,
      `date_added:[${low}  TO ${high}]`,
      `date_added:[${low} to ${high}]`,
    ]) {
      expect((await get(`${v2}?q=${encodeURIComponent(q)}`, bearer)).status).toBe(400);
    }
    // A form writes a space as a plus sign: the same filter.
    expect(
      sidsOf(
        (await get(`${v2}?q=${`date_added:[${low} TO *]`.replaceAll(' ', '+')}`, bearer)).json(),
      ),
    ).toEqual(sids((c) => c.date_added >= low));
  });

  test('[R54] uses an asterisk for an open end', async () => {
    expect(await ask(`date_added:[* TO ${low}]`)).toEqual(sids((c) => c.date_added <= low));
    expect(await ask('date_added:[* TO *]')).toHaveLength(calls.length);
  });

  test('[R55] applies all its parts', async () => {
    expect(await ask(`date_added:[${low} TO *],talk_minutes:[5 TO *]`)).toEqual(
      sids((c) => c.date_added >= low && talk(c) >= 5),
    );
    expect(await ask('talk_minutes:[2 TO *],talk_minutes:[* TO 8}')).toEqual(
      sids((c) => talk(c) >= 2 && talk(c) < 8),
    );
  });

  test('[R56] includes calls through call extensions in v3 with inc_gce:1', async () => {
    const v3 = async (query: string) =>
      sidsOf((await get(`/v3/user/bid-management${query}`)).json());
    expect(await v3('')).toEqual(sids((c) => c.channel === 'Tracker'));
    expect(await v3('?q=inc_gce:1')).toEqual(sids(() => true));
    expect(await v3('?q=talk_minutes:[5%20TO%20*],inc_gce:1')).toEqual(sids((c) => talk(c) >= 5));
    expect(await ask('')).toEqual(sids(() => true));
  });

  test('[R57] accepts dates in one form only', async () => {
    for (const bound of [
      '2024-01-01',
      '2024-01-01T00:00:00',
      '2024-02-30 00:00:00',
      '2024-01-01 00:00:00.5',
    ]) {
      const response = await get(
        `${v2}?q=${encodeURIComponent(`date_added:[${bound} TO *]`)}`,
        bearer,
      );
      expect([bound, response.status]).toEqual([bound, 400]);
    }
  });

  test.each(['0', '5', '5.0', '5.05', '4.95', '13.37', '999999999999'])(
    '[R59] talk_minutes:[%s TO *] means that or more',
    async (n) => {
      expect(await ask(`talk_minutes:[${n} TO *]`)).toEqual(sids((c) => talk(c) >= Number(n)));
      expect(await ask(`talk_minutes:{${n} TO *]`)).toEqual(sids((c) => talk(c) > Number(n)));
      expect(await ask(`talk_minutes:[* TO ${n}]`)).toEqual(sids((c) => talk(c) <= Number(n)));
    },
  );

  test('[R61] refuses any other field', async () => {
    const response = await get('/v3/user/bid-management?q=ani:[1%20TO%202]');
    expect([response.status, response.json()]).toMatchObject([
      400,
      { code: 'invalid_filter', parameter: 'q', pointer: { start: 0, end: 3 } },
    ]);
  });

  test('[R62] may have braces in v3 as well', async () => {
    const response = await get(
      `/v3/user/bid-management?q=${encodeURIComponent(`date_added:[${low} TO ${high}}`)}`,
    );
    expect(sidsOf(response.json())).toEqual(
      sids((c) => c.channel === 'Tracker' && c.date_added >= low && c.date_added < high),
    );
  });

  test('[R95] is refused with the position and what was expected there if it cannot be read', async () => {
    const response = await get('/v3/user/bid-management?q=talk_minutes:[5%20TO');
    expect(response.status).toBe(400);
    expect(response.json()).toMatchObject({
      code: 'invalid_filter',
      parameter: 'q',
      detail: expect.any(String),
      pointer: { start: expect.any(Number), end: expect.any(Number), expected: expect.any(Array) },
    });
    expect((await get(`${v2}?q=inc_gce:1`, bearer)).status).toBe(400);
  });
});
