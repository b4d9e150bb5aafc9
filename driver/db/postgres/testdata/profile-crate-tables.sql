CREATE TABLE cpu (time timestamptz DEFAULT … NOT NULL, tags_id integer NOT NULL, usage_user double precision, usage_system double precision, usage_idle double precision, usage_nice double precision, usage_iowait double precision, usage_irq double precision, usage_softirq double precision, usage_steal double precision, usage_guest double precision, usage_guest_nice double precision)
CREATE TABLE tags (id integer DEFAULT … PRIMARY KEY, hostname text, region text, datacenter text, rack text, os text, arch text, team text, service text, service_version text, service_environment text)
REFRESH TABLE cpu
REFRESH TABLE tags
