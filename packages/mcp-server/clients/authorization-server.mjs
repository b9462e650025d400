// An authorization server for the drill: its tokens are JWT for one endpoint, and its client may
// sign in without a person.
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const listener = createServer();
await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
const issuer = `http://127.0.0.1:${listener.address().port}`;
const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'drill',
      client_secret: 'a-secret-of-the-drill',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    },
  ],
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_context, indicator) => ({
        scope: 'calls:read',
        audience: indicator,
        accessTokenTTL: 300,
        accessTokenFormat: 'jwt',
      }),
    },
  },
});
listener.on('request', provider.callback());
process.stdout.write(`${issuer}\n`);
