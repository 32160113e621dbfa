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
