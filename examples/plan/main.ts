// A plan is set up, worked on, changed on the way and completed. It is session state, so it survives a restart.
import { createSession, dispatchCall, Session } from '@lastcall/core';
import { plan, planningSection, prompt } from '@lastcall/core/prompt';
import { show } from '../show.ts';

const worker = prompt({ ns: 'demo', key: 'worker', sections: [planningSection({ strategy: 'plan_act_reflect' })] });

let session = createSession();

async function call(toolName: string, input: object = {}): Promise<void> {
  show(await dispatchCall({ instructions: worker, session, call: { toolName, input } }));
}

console.log(`${worker.render({ session }).system}\n`);

await call('planning_read_plan');
await call('planning_setup_plan', {
  objective: 'Publish the release',
  initial_steps: ['Run the tests', 'Write the notes'],
});
await call('planning_update_step', { step_id: 1, status: 'done' });

console.log('The process ends here, and another one goes on.\n');
session = Session.fromJSON(JSON.stringify(session), { slices: worker.slices });

await call('planning_add_step', { steps: ['Tag the commit'] });
await call('planning_update_step', { step_id: 2, status: 'done' });
await call('planning_update_step', { step_id: 3, status: 'done' });
await call('planning_add_step', { steps: ['One more thing'] });

console.log(`The plan is ${session.read(plan)?.status}.`);
