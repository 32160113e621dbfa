// Validates manifests (JSON, one a line, on stdin) by the schemas of Kubernetes, KEDA and the Prometheus operator.
// Exits with 1, and prints what is wrong. A script, because jest cannot load these modules.
import { readFileSync } from 'node:fs';
import * as keda from '@kubernetes-models/keda/keda.sh/v1alpha1';
import * as monitoring from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import * as apps from 'kubernetes-models/apps/v1';
import * as autoscaling from 'kubernetes-models/autoscaling/v2';
import * as batch from 'kubernetes-models/batch/v1';
import * as networking from 'kubernetes-models/networking.k8s.io/v1';
import * as policy from 'kubernetes-models/policy/v1';
import * as rbac from 'kubernetes-models/rbac.authorization.k8s.io/v1';
import * as core from 'kubernetes-models/v1';
import { z } from 'zod';

/** What the chart uses of the `WorkerDeployment` of Temporal's Worker Controller. Its pods are of a Deployment. */
const duration = z.string().regex(/^(\d+[hms])+$/);
const workerDeployment = z.strictObject({
  replicas: z.int().min(1),
  workerOptions: z.strictObject({
    connectionRef: z.strictObject({ name: z.string().min(1) }),
    temporalNamespace: z.string().min(1),
  }),
  rollout: z.strictObject({
    strategy: z.string(),
    steps: z.array(z.strictObject({ rampPercentage: z.int().min(1).max(99), pauseDuration: duration })).optional(),
  }),
  sunset: z.strictObject({ scaledownDelay: duration, deleteDelay: duration }),
  template: z.object({ metadata: z.object({ labels: z.record(z.string(), z.string()) }), spec: z.object({}) }),
});

class WorkerDeployment {
  constructor({ metadata, spec }) {
    Object.assign(this, { metadata, spec });
  }

  validate() {
    workerDeployment.parse(this.spec);
    const { template } = this.spec;
    new apps.Deployment({
      metadata: this.metadata,
      spec: { selector: { matchLabels: template.metadata.labels }, template },
    }).validate();
  }
}

const MODELS = {
  v1: core,
  'apps/v1': apps,
  'batch/v1': batch,
  'autoscaling/v2': autoscaling,
  'networking.k8s.io/v1': networking,
  'policy/v1': policy,
  'rbac.authorization.k8s.io/v1': rbac,
  'keda.sh/v1alpha1': keda,
  'monitoring.coreos.com/v1': monitoring,
  'temporal.io/v1alpha1': { WorkerDeployment },
};

for (const line of readFileSync(0, 'utf8').trim().split('\n')) {
  const { apiVersion, kind, ...rest } = JSON.parse(line);
  try {
    new MODELS[apiVersion][kind](rest).validate();
  } catch (error) {
    console.error(`${apiVersion} ${kind} ${rest.metadata?.name}: ${error.message}`);
    process.exitCode = 1;
  }
}
