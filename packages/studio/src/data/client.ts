import { type Client, createClient } from '@lastcall/client';

/** The gateway that serves this page, as whoever is signed in. */
export const client: Client = createClient({ auth: 'session' });
