// The public exports of create-lastcall.
export { createProject, type Project } from './create-project.ts';
export { ProjectRefused } from './project-refused.ts';
