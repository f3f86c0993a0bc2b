import { type Client, createClient } from '@lastcall/client';

/** A client for the gateway that serves this page, as the signed-in user. */
export const client: Client = createClient({ auth: 'session' });
