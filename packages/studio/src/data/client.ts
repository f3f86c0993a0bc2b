import { type Client, createClient } from '@lastcall/client';
import { chosenProject } from './project.ts';

/** The same in no project: for the session, and for the list of projects. */
export const everywhere: Client = createClient({ auth: 'session' });

/** A client for the gateway that serves this page, as the signed-in user, in the project that the user chose. */
export const client: Client = createClient({ auth: 'session', project: chosenProject() });
