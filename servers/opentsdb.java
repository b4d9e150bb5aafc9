import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.master.HMaster;
import org.apache.hadoop.hbase.regionserver.BloomType;

/** HBase in its standalone mode, with the tables of OpenTSDB: it makes a file once they are there. */
class HBase {
	public static void main(String[] args) throws Exception {
		Thread tables = new Thread(() -> {
			try {
				create();
				Files.createFile(Path.of(args[0]));
			} catch (Exception e) {
				e.printStackTrace();
				Runtime.getRuntime().halt(1);
			}
		});
		tables.setDaemon(true);
		tables.start();
		HMaster.main(new String[] {"start"});
	}

	/** As src/create_table.sh of OpenTSDB's makes them, without compression. */
	private static void create() throws Exception {
		var conf = HBaseConfiguration.create();
		conf.setInt("hbase.client.retries.number", 100);
		conf.setInt("hbase.client.pause", 100);
		try (var connection = ConnectionFactory.createConnection(conf); var admin = connection.getAdmin()) {
			for (String[] table : new String[][] {{"tsdb-uid", "id", "name"}, {"tsdb", "t"}, {"tsdb-tree", "t"}, {"tsdb-meta", "name"}}) {
				var name = TableName.valueOf(table[0]);
				if (admin.tableExists(name)) {
					continue;
				}
				var of = TableDescriptorBuilder.newBuilder(name);
				for (int i = 1; i < table.length; i++) {
					of.setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(table[i].getBytes()).setBloomFilterType(BloomType.ROW).build());
				}
				admin.createTable(of.build());
			}
		}
	}
}
