// A plan is set up, worked on, changed on the way and completed. It is session state, so it survives a restart.
import { createSession, dispatchCall, Session } from '@lastcall/core';
import { plan } from '@lastcall/core/prompt';
import { show } from '../show.ts';
import { planner } from './definition.ts';

const { instructions } = planner;
let session = createSession();

async function call(toolName: string, input: object = {}): Promise<void> {
  show(await dispatchCall({ instructions, session, call: { toolName, input } }));
}

console.log(`${instructions.render({ session }).system}\n`);

await call('planning_read_plan');
await call('planning_setup_plan', {
  objective: 'Publish the release',
  initial_steps: ['Run the tests', 'Publish 1.2.0'],
});
await call('open_sections', { keys: ['releases'] });
await call('publish', { version: '1.2.0' });
await call('run_tests');
await call('planning_update_step', { step_id: 1, status: 'done' });

console.log('The process ends here, and another one goes on.\n');
session = Session.fromJSON(JSON.stringify(session), { slices: instructions.slices });

await call('planning_add_step', { steps: ['Tell the users'] });
await call('publish', { version: '1.2.0' });
await call('planning_update_step', { step_id: 2, status: 'done' });
await call('planning_update_step', { step_id: 3, status: 'done' });
await call('planning_add_step', { steps: ['One more thing'] });

console.log(`The plan is ${session.read(plan)?.status}.`);
